//! Bounds of the index.

/// How much of a text is indexed from its beginning. What lies between this and the end is
/// indexed only where it speaks of an error; nobody is told, because the whole text stays in the
/// store and every line of it can be read there. Larger texts are logs and listings.
pub const MAX_HEAD_BYTES: usize = 256 * 1024;

/// How much of a longer text is indexed from its end: where a build says how it ended.
pub const MAX_TAIL_BYTES: usize = 32 * 1024;

/// How many lines that speak of an error are taken from between.
pub(crate) const MAX_ERROR_LINES: usize = 400;

/// How much of such a line is taken, before and after the word. A guess: a stack frame fits.
pub(crate) const MAX_ERROR_LINE_BYTES: usize = 240;

/// How long a term may be. A longer word is cut, in documents and in queries alike, so that it is
/// found by its beginning: a hash of 512 bits is told apart from any other long before.
pub(crate) const MAX_TERM_BYTES: usize = 64;

/// How long a word may be. A longer one is no word but encoded data, and is left out.
pub(crate) const MAX_WORD_BYTES: usize = 256;

/// From how long a word on it is looked at whether encoded data begins with it. Shorter ones are
/// words of the language or of a program.
pub(crate) const MIN_BLOB_WORD_BYTES: usize = 24;

/// Into how many parts an identifier is taken apart. One with more has whole words for parts of a
/// table or a generated name, and is indexed whole only.
pub(crate) const MAX_PARTS: usize = 16;

/// How many bytes of documents may wait for the threads that index. The one that adds waits; so
/// memory does not grow with the length of documents.
pub(crate) const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// How often a view is loaded anew when the files change under the reader.
pub(crate) const MAX_LOADS: usize = 8;

/// How many clauses of a plan are looked at. The rest is left out, and the caller of
/// [`Plan`](crate::Plan) is the one who can tell: it is not said here.
pub const MAX_CLAUSES: usize = 64;

/// How many terms one clause may have. A longer one is cut: a phrase of that length names its
/// place well enough.
pub(crate) const MAX_CLAUSE_TERMS: usize = 64;

/// How many words may stand for the last, unfinished one of a phrase.
pub(crate) const MAX_PREFIX_EXPANSIONS: u32 = 200;

/// How far into the results a page may be. The threshold is kept in memory, some 24 bytes a hit.
pub const MAX_DEPTH: usize = 10_000;

/// The least memory that a thread of the writer works with; tantivy refuses less.
pub(crate) const MIN_WRITER_BYTES: usize = 15_000_000;

/// How much memory the table of terms begins with that is made for what is not indexed yet. It
/// grows; at this size making it costs nothing that is felt.
pub(crate) const TAIL_TABLE_BYTES: usize = 1024 * 1024;

/// How many segments of about the same size are merged into one. Fewer would be searched a little
/// faster; but merging writes every posting again, which at 8 took a sixth of a first run.
pub(crate) const MIN_MERGED_SEGMENTS: usize = 16;

/// By how many binary orders of magnitude segments may differ that count as of the same size.
pub(crate) const LAYER_LOG_SIZE: f64 = 2.0;

/// Below how many events segments count as of the same size. Small, so that what a session gains a
/// line at a time is merged among itself, and not with what a first run has written.
pub(crate) const MIN_LAYER_EVENTS: u32 = 100;
