//! Bounds of the store.

use std::time::Duration;

/// How much text is compressed together. Larger pages compress better and cost more to read one
/// event from; at 128 KiB unpacking takes a fifth of a millisecond.
pub(crate) const MAX_BODY_BYTES: usize = 128 * 1024;

/// How many damaged records of one feed are kept by place. All are counted; past this number a
/// list helps nobody.
pub(crate) const MAX_SKIPPED_PER_FEED: i64 = 100;

/// How much of the first prompt is kept beside its session, in characters: what a list shows.
pub(crate) const MAX_PREVIEW_CHARS: usize = 200;

/// How long a writer waits for another process. Readers never wait.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many idle connections are kept. Each holds some hundred kilobytes.
pub(crate) const MAX_IDLE_CONNECTIONS: usize = 4;
