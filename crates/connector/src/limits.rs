//! Bounds that hold for every connector.

/// The longest record that is parsed.
///
/// A longer one is archived whole, counted as damaged and reported: half a JSON value says
/// nothing, and to parse it costs several times its size in memory. Agents put images into
/// records as base64; the largest seen in public transcripts has 9 MB.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// How much of a record past [`MAX_LINE_BYTES`] goes into one batch.
pub const MAX_PIECE_BYTES: usize = 4 * 1024 * 1024;

/// How much of a file is compared to tell whether it was rewritten, at its head and before the
/// cursor. One disk page: appends leave it alone, and every rewrite seen so far changes it.
pub const MAX_FINGERPRINT_BYTES: usize = 4096;

/// The most a compressed transcript may unpack to. Past it reading stops with an error: the
/// largest real transcripts have some hundred megabytes, and a bomb has no end.
pub const MAX_UNPACKED_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How deep folders are followed below a root. The deepest layout of any agent has 7.
pub const MAX_DEPTH: usize = 12;

/// How many folder entries one walk looks at. Past it the walk reports itself as incomplete.
pub const MAX_ENTRIES: usize = 2_000_000;
