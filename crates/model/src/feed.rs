//! How a transcript reaches us: a stretch at a time, with a place to go on from.

use std::{collections::BTreeMap, fmt, fs::Metadata, time::UNIX_EPOCH};

use crate::{Event, SessionFacts, Usage, limits::MAX_CURSOR_BYTES};

/// A feed's name, unique within its connector and stable from one discovery to the next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedId(pub String);

impl fmt::Display for FeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What tells cheaply that a feed has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub n_bytes: u64,
    /// When it was last written, in milliseconds since the Unix epoch; 0 if unknown.
    pub modified_ms: i64,
    /// What else tells one state of a file from another: which file it is, and when the system
    /// saw it change, which no program can set back. 0 where the system does not say.
    pub changed: i64,
}

impl Stamp {
    /// The stamp of a file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let modified_ms = modified.and_then(|it| i64::try_from(it.as_millis()).ok());
        Self {
            n_bytes: metadata.len(),
            modified_ms: modified_ms.unwrap_or(0),
            changed: changed(metadata),
        }
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt as _;
    let nanoseconds = metadata.ctime().wrapping_mul(1_000_000_000) + metadata.ctime_nsec();
    nanoseconds ^ metadata.ino().cast_signed().rotate_left(32)
}

#[cfg(not(unix))]
const fn changed(_metadata: &Metadata) -> i64 {
    0
}

/// A place in a feed, in its connector's own words. Opaque to everyone else, and durable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps the connector's words.
    ///
    /// # Panics
    ///
    /// If they exceed [`MAX_CURSOR_BYTES`]: a cursor is a place, not a cache.
    #[must_use]
    pub fn new(words: String) -> Self {
        assert!(words.len() <= MAX_CURSOR_BYTES, "cursor of {} bytes", words.len());
        Self(words)
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a record stands in its feed's bytes (for a database: in the canonical JSON lines that
/// the connector makes of its rows).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Its first byte.
    pub first_byte: u64,
    /// How many bytes it has.
    pub n_bytes: u64,
}

/// A stretch of a feed: what it says, and where it ends.
///
/// **Invariant:** `cursor` is just after the last record in the batch, and `raw` is exactly the
/// bytes between the cursor before and this one. The pipeline commits all of it in one
/// transaction, so a record is stored exactly once however often we are interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What it states about sessions.
    pub sessions: Vec<SessionFacts>,
    /// What happened, in the feed's order.
    pub events: Vec<Event>,
    /// What it cost.
    pub usage: Vec<Usage>,
    /// What became of each record.
    pub tally: Tally,
    /// Records that could not be understood. Reported, counted, and never silently dropped.
    pub skipped: Vec<Skipped>,
    /// The bytes that were read.
    pub raw: Vec<u8>,
    /// Where the next batch begins.
    pub cursor: Cursor,
}

/// What became of each record: every one is in exactly one of the four.
///
/// `records() = event records + ignored + unknown + damaged`, by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Records that gave events, facts or usage, by the agent's name for their kind.
    pub understood: BTreeMap<String, u64>,
    /// Records that are known to hold nothing of their own.
    pub ignored: BTreeMap<String, u64>,
    /// Records of a kind that this version does not know. Each also gave an event.
    pub unknown: BTreeMap<String, u64>,
    /// Records that could not be read. Each also gave a [`Skipped`].
    pub damaged: u64,
}

impl Tally {
    /// How many records there were.
    #[must_use]
    pub fn records(&self) -> u64 {
        let sum = |kinds: &BTreeMap<String, u64>| kinds.values().sum::<u64>();
        sum(&self.understood) + sum(&self.ignored) + sum(&self.unknown) + self.damaged
    }
}

/// A record that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its place in the feed, for a person: `line 12`.
    pub locator: String,
    /// What was wrong, for a person.
    pub reason: String,
}
