//! Bounds of handoffs.

/// The longest intent, in characters (Unicode scalar values): the fixed instruction and the
/// caller's words together. Past it the words are cut.
pub const MAX_INTENT_CHARS: usize = 4_000;

/// Rows of one kind in a page, if the caller does not say.
pub const DEFAULT_PAGE_ROWS: usize = 200;

/// Rows of one kind in a page, at most. More is refused.
pub const MAX_PAGE_ROWS: usize = 1_000;

/// Bytes of a serialized page, if the caller does not say. Clients begin to cut tool results at
/// about 30 KB, in the middle and silently.
pub const DEFAULT_PAGE_BYTES: usize = 20_000;

/// Bytes of a serialized page, at most. More is refused.
pub const MAX_PAGE_BYTES: usize = 28_000;

/// Bytes of a serialized page, at least: room for the session's facts and one row.
pub const MIN_PAGE_BYTES: usize = 3_000;

/// What is kept of a long text in a row, in bytes: people's and models' words.
pub(crate) const MAX_WORDS_BYTES: usize = 4_000;

/// What is kept of a long text in a row, in bytes: tool input and output, differences.
pub(crate) const MAX_OUTPUT_BYTES: usize = 1_500;

/// What is kept of a row's texts if it does not fit an empty page otherwise.
pub(crate) const MAX_SQUEEZED_BYTES: usize = 200;

/// What is kept of names, paths and titles in a row, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 300;

/// How much of a text is looked at to show a part of it. A secret that begins in what is shown
/// ends within this.
pub(crate) const MAX_LOOK_BYTES: usize = 64 * 1024;

/// How many changed files a summary names.
pub(crate) const MAX_FILES: usize = 20;

/// How many models a summary names.
pub(crate) const MAX_MODELS: usize = 5;

/// How many candidates an ambiguous reference names.
pub(crate) const MAX_CANDIDATES: usize = 8;

/// How many events are read from the store at once.
pub(crate) const MAX_READ_EVENTS: usize = 200;

/// How many events go into one push.
pub(crate) const MAX_PUSH_EVENTS: usize = 1_000;
