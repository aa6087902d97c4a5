//! Bounds on what is in a history.

/// What a command prints and an agent keeps of it: Claude Code cuts at 30,000 characters.
pub(super) const MAX_OUTPUT_BYTES: u64 = 30_000;

/// What a person or a model writes at once. Real ones are seldom longer.
pub(super) const MAX_SPEECH_BYTES: u64 = 12_000;

/// The smallest session: a prompt and an answer, with what an agent puts around them.
pub(super) const MIN_SESSION_BYTES: u64 = 6_000;

/// What is said in one context window, after which an agent compacts it. A million tokens, of
/// which a part is copies: a guess from transcripts that hold compactions.
pub(super) const WINDOW_BYTES: u64 = 2_500_000;
