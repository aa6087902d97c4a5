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

/// The longest pause between records that are copied in one go; a longer one ends the copies. They
/// follow each other within 200 ms in the transcripts seen so far, and nobody who takes over a
/// history says something new in less than a second.
pub(crate) const MAX_COPY_PAUSE_MS: i64 = 1000;

/// How deep arrays and objects may be nested in a record; one that goes deeper is damaged. Other
/// parsers draw the same line, and records of Codex go 12 deep.
pub(crate) const MAX_DEPTH: u32 = 127;

/// In how many lines the session's id is looked for, where the file name does not tell it. It
/// stands in the first one; more are for a head that was damaged.
pub(crate) const MAX_HEAD_LINES: usize = 50;

/// In how much of a tool's output its exit code is looked for: the header before `Output:`, which
/// may repeat the command.
pub(crate) const MAX_HEADER_LINES: usize = 40;

/// How long before the file was last written a prompt was typed whose thread will have no rollout
/// any more. Rollouts are made when a thread's first turn begins, which may be hours after a
/// command was typed in it; a guess, that nobody leaves a thread open for longer.
pub(crate) const MIN_HISTORY_AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// The least number that is a time in milliseconds; a smaller one is in seconds. As seconds it is
/// the year 5138, as milliseconds March 1973.
pub(crate) const MIN_MILLISECONDS: i64 = 100_000_000_000;
