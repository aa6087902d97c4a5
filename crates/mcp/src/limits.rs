//! Bounds of answers.

/// Bytes of a serialized answer, if the caller does not say. Claude Code shows 30 KB, Codex about
/// 48 KB, and what is beyond is cut in the middle without a word.
pub const DEFAULT_ANSWER_BYTES: usize = 20_000;

/// Bytes of a serialized answer, at most. More is refused.
pub const MAX_ANSWER_BYTES: usize = 28_000;

/// Bytes of a serialized answer, at least: less has no room for anything.
pub const MIN_ANSWER_BYTES: usize = 4_000;

/// What of an answer is not its structured content: the note beside it, and the envelope.
pub(crate) const ENVELOPE_BYTES: usize = 700;

/// Below this an answer does not say everything twice.
pub(crate) const MIN_DOUBLED_BYTES: usize = 12_000;

/// How many calls run at once. More wait: an agent that floods us must not take every thread.
pub(crate) const MAX_CALLS: usize = 8;
