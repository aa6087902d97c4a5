//! Bounds of ingest.

use std::time::Duration;

/// How many records go into one batch.
pub(crate) const MAX_BATCH_RECORDS: usize = 4_000;

/// How many raw bytes go into one batch: also the size of an archive chunk. Against 256 KiB it saves
/// a tenth of the archive.
pub(crate) const MAX_BATCH_BYTES: usize = 1024 * 1024;

/// How many steps wait between readers and the writer.
pub(crate) const MAX_QUEUED_STEPS: usize = 8;

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

/// How many sessions that are to be indexed again are looked up at once.
pub(crate) const MAX_REINDEX_SESSIONS: usize = 1_000;

/// How long a change is let settle before it is looked at: a record that is written in several
/// pieces is then met whole, and a question that is asked at the same moment takes it in itself.
pub(crate) const SETTLE: Duration = Duration::from_millis(25);

/// How far apart two watched passes begin that both take something in. Each commits the store and
/// the index, which costs some 20 flushes to the disk; a person does not see the difference.
pub(crate) const TAKE_PAUSE: Duration = Duration::from_secs(1);

/// How long to rest after a watched pass that found nothing: something changed that is no
/// transcript, and may do so many times a second.
pub(crate) const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// The same as a multiple of what the pass cost, so that looking in vain takes a tenth of one
/// processor at most.
pub(crate) const LOOK_COST_FACTOR: u32 = 10;

/// How long to wait at first for another process that is at it: about what a small pass takes.
pub(crate) const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// How long a change is left to the process that was quicker before, at first and at most. The
/// most is also how long after the death of that process another one takes its place.
pub(crate) const MIN_STANDBY: Duration = Duration::from_millis(500);
/// See [`MIN_STANDBY`].
pub(crate) const MAX_STANDBY: Duration = Duration::from_secs(4);

/// How long to wait after a failed pass, at first and at most. A full disk stays full for minutes.
pub(crate) const MIN_FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// See [`MIN_FAILURE_PAUSE`].
pub(crate) const MAX_FAILURE_PAUSE: Duration = Duration::from_mins(1);

/// How far apart two looks are where the system does not tell of changes: while something
/// happens, and after it has been quiet for long.
pub(crate) const MIN_POLL: Duration = Duration::from_secs(2);
/// See [`MIN_POLL`].
pub(crate) const MAX_POLL: Duration = Duration::from_secs(15);
/// The same as a multiple of what a look costs, so that it takes a fiftieth of one processor at
/// most.
pub(crate) const POLL_COST_FACTOR: u32 = 50;

/// How often to look although the system tells of changes. It tells nothing of what another
/// machine does to a shared disk, and a tree that was moved may have escaped it.
pub(crate) const SAFETY_LOOK: Duration = Duration::from_mins(10);

/// How often to see whether the watched folders and this program are still the same ones.
pub(crate) const SWEEP: Duration = Duration::from_mins(1);

/// How many sweeps after a refusal the system is asked again to tell of changes.
pub(crate) const SWEEPS_TO_RETRY: u32 = 5;

/// How many folders are watched. The system gives all programs of a user together a number of
/// watches, and each of our processes takes its own; beyond this, looking at intervals is the
/// better neighbour.
pub(crate) const MAX_WATCHED_FOLDERS: usize = 4_096;

/// How often the folders to watch are worked out anew because some came or went meanwhile.
pub(crate) const MAX_HOLD_ROUNDS: usize = 8;

/// How long the end of a process waits for a pass that is under way. Ended in its midst, it is
/// done again by the next one, and nothing is lost.
pub(crate) const STOP_PATIENCE: Duration = Duration::from_millis(500);
