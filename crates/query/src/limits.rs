//! Bounds of a query and its answer.

/// How many hits a page has if nobody says.
pub const DEFAULT_HITS: usize = 10;

/// How many hits a page has at most. A larger wish is cut to this; the next page has the rest.
pub const MAX_HITS: usize = 200;

/// How many words of a query are looked for. The rest is left out, and the answer says so. A word
/// more than these tells no two events apart.
pub(crate) const MAX_WORDS: usize = 64;

/// How many events that are not indexed yet are searched. Older ones of them are left out, and the
/// answer says how many. At this number it takes some 200 ms.
pub(crate) const MAX_TAIL_EVENTS: usize = 5_000;

/// How many sessions the beginning of an id may stand for.
pub(crate) const MAX_SESSIONS: usize = 200;

/// How long a snippet is, in characters.
pub(crate) const MAX_SNIPPET_CHARS: usize = 240;

/// How far a text is looked through for the best place. Beyond this the hit stands, and its
/// snippet shows the beginning.
pub(crate) const MAX_SNIPPET_TEXT_BYTES: usize = 2 * 1024 * 1024;

/// How many matches in one text are compared for the best place.
pub(crate) const MAX_SNIPPET_MATCHES: usize = 4_096;
