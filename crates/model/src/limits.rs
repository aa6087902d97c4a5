//! Bounds on what passes between crates.

/// The longest session id. Longer names are refused where they are read; the longest that an
/// agent writes today has 100 bytes.
pub const MAX_SESSION_ID_BYTES: usize = 200;

/// The most a [`Cursor`](crate::Cursor) may hold. It is read and written with every batch.
pub const MAX_CURSOR_BYTES: usize = 1024;
