//! Bounds of the engine.

use std::time::Duration;

/// How much may have changed in the sources for a question to take it in before it is answered.
/// More is left to `sync`, and the answer says so. This much takes about a tenth of a second.
pub(crate) const MAX_CATCH_UP_BYTES: u64 = 8 * 1024 * 1024;

/// How long a `sync` waits for another process that is doing the same.
pub(crate) const SYNC_PATIENCE: Duration = Duration::from_mins(10);

/// Sessions in one page of a list, at most and if the caller does not say.
pub(crate) const MAX_SESSIONS: usize = 200;
/// See [`MAX_SESSIONS`].
pub(crate) const DEFAULT_SESSIONS: usize = 20;

/// Events in one page, at most and if the caller does not say.
pub(crate) const MAX_EVENTS: usize = 1_000;
/// See [`MAX_EVENTS`].
pub(crate) const DEFAULT_EVENTS: usize = 50;

/// How many sessions are looked at for one page of a filtered list.
pub(crate) const MAX_SESSIONS_LOOKED_AT: usize = 20_000;

/// How many of its last events the overview of a session shows.
pub(crate) const MAX_LAST_EVENTS: usize = 5;

/// How deep a tree of sessions is followed, and how many sessions of it are shown. Sub-agents of
/// sub-agents are rare, and a tree of this size helps nobody; it says that there are more.
pub(crate) const MAX_TREE_DEPTH: usize = 32;
/// See [`MAX_TREE_DEPTH`].
pub(crate) const MAX_TREE_SESSIONS: usize = 500;

/// How much of the newest a first run indexes before it reads the rest: less than a second's work.
pub(crate) const FIRST_PART_BYTES: u64 = 16 * 1024 * 1024;

/// How long a question waits for another process that is taking something in. It would answer
/// without it, and says so.
pub(crate) const CATCH_UP_PATIENCE: Duration = Duration::from_millis(250);

/// How many events are read from the store at once.
pub(crate) const MAX_READ_EVENTS: usize = 200;

/// How long a call may stay invisible in its own transcript. Claude Code writes it within half a
/// second of the call.
pub(crate) const MAX_CALLER_WAIT: Duration = Duration::from_secs(2);

/// How long to wait before looking again for a call in its transcript.
pub(crate) const CALLER_PAUSE: Duration = Duration::from_millis(50);

/// How long after its first question a process begins to take in what has changed by itself: the
/// question does that for itself first.
pub(crate) const FIRST_LOOK_WHEN_USED: Duration = Duration::from_millis(500);

/// How much a watcher reads before it indexes what it has read, and sees whether it has to end.
pub(crate) const WATCH_PART_BYTES: u64 = 32 * 1024 * 1024;

/// Of how many new events a watcher says which sessions they belong to.
pub(crate) const MAX_TOLD_EVENTS: usize = 1_000;
