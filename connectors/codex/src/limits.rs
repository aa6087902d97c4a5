//! Bounds of this connector.

/// How much of a record that is not understood is kept as the event's text. The record itself is
/// archived whole; this is enough to see what it is.
pub(crate) const MAX_UNKNOWN_BYTES: usize = 4096;

/// The longest name of a kind of record that we did not choose ourselves. A longer one is cut, so
/// that a strange file cannot fill the account with names.
pub(crate) const MAX_KIND_BYTES: usize = 64;

/// The longest model name that is remembered; a longer one is cut. It travels in every cursor, and
/// the longest in use has 40 bytes.
pub(crate) const MAX_MODEL_BYTES: usize = 64;

/// How many texts wait for their repetition. The oldest is forgotten, and its repetition would
/// then be read as new. The two forms of a text stand at most 9 records apart in the transcripts
/// seen so far. Each costs 11 bytes of the cursor.
pub(crate) const MAX_SIGHTINGS: usize = 20;

/// How many patches wait for their result. Of the oldest beyond it no file edits are told. Agents
/// make one at a time, rarely three. Each costs up to 35 bytes of the cursor.
pub(crate) const MAX_PATCHES: usize = 8;

/// How long after the copied head of its parent a fork still writes copied records. They are
/// written in one go, within 30 ms in the transcripts seen so far, and no model answers in less
/// than a second.
pub(crate) const MAX_INHERITED_MS: i64 = 1000;

/// In how many lines the session's id is looked for, where the file name does not tell it. It
/// stands in the first one; more are for a head that was damaged.
pub(crate) const MAX_HEAD_LINES: usize = 50;

/// In how much of a tool's output its exit code is looked for: the header before `Output:`, which
/// may repeat the command.
pub(crate) const MAX_HEADER_LINES: usize = 40;
