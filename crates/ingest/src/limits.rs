//! Bounds of ingest.

use std::time::Duration;

/// How many records go into one batch.
pub(crate) const MAX_BATCH_RECORDS: usize = 2_000;

/// How many raw bytes go into one batch: also the size of an archive chunk. Larger chunks compress
/// little better and cost more to read one record from.
pub(crate) const MAX_BATCH_BYTES: usize = 256 * 1024;

/// How many steps wait between readers and the writer.
pub(crate) const MAX_QUEUED_STEPS: usize = 16;

/// How many steps go into one transaction, and how many raw bytes. A transaction keeps other
/// writers waiting; at this size it takes some 50 ms.
pub(crate) const MAX_TRANSACTION_STEPS: usize = 64;
/// See [`MAX_TRANSACTION_STEPS`].
pub(crate) const MAX_TRANSACTION_BYTES: usize = 4 * 1024 * 1024;

/// How many threads read transcripts. More than this and the disk, not the parser, is the bound.
pub(crate) const MAX_READERS: usize = 4;

/// How many events are read from the store at once to be indexed.
pub(crate) const MAX_FOLLOW_EVENTS: usize = 1_000;

/// How many events go into one commit of the index while catching up. Small commits keep what was
/// done if the process is killed; each costs some milliseconds.
pub(crate) const MAX_COMMIT_EVENTS: u64 = 10_000;

/// How much memory the index writer takes before it writes a segment.
pub(crate) const INDEX_WRITER_BYTES: usize = 64 * 1024 * 1024;

/// How long the leader's place is tried for again.
pub(crate) const LEAD_RETRY: Duration = Duration::from_millis(50);
