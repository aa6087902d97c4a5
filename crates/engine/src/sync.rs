//! Bringing store and index up to date.

use std::time::Duration;

use ai_hist_ingest::{Lead, Progress, Summary, follow, is_behind, outlook, sync};
use serde::Serialize;

use crate::{
    Engine, EngineError,
    limits::{CATCH_UP_PATIENCE, FIRST_PART_BYTES, MAX_CATCH_UP_BYTES, SYNC_PATIENCE},
};

/// What a sync did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SyncReport {
    /// Transcripts that exist.
    pub n_feeds: u64,
    /// Transcripts that had changed and were read.
    pub n_read: u64,
    /// Transcripts that could not be read.
    pub n_failed: u64,
    /// New events.
    pub n_events: u64,
    /// Bytes read and archived.
    pub n_bytes: u64,
    /// Transcripts that were read again from the archive, because this version understands more.
    pub n_reread: u64,
    /// Events indexed.
    pub n_indexed: u64,
    /// What could not be looked at.
    pub problems: Vec<String>,
}

/// How far an answer is behind the transcripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Freshness {
    /// Transcripts with changes that are not taken in yet.
    pub stale_feeds: u64,
    /// How many bytes these are.
    pub stale_bytes: u64,
}

impl Engine {
    /// Reads every change in every source, and indexes it. Waits for another process that is at
    /// the same.
    pub fn sync(&self, on_progress: &dyn Fn(Progress)) -> Result<SyncReport, EngineError> {
        self.sync_newest(u64::MAX, on_progress)
    }

    /// Like [`Engine::sync`], and leaves out the oldest transcripts beyond about `n_bytes`.
    pub fn sync_newest(
        &self,
        n_bytes: u64,
        on_progress: &dyn Fn(Progress),
    ) -> Result<SyncReport, EngineError> {
        let store = self.store()?;
        let _lead = Lead::take(self.state(), SYNC_PATIENCE)?;
        let mut found = outlook(store, &self.sources().local)?;
        found.keep_newest(n_bytes);
        // What people ask for first is what happened last: it can be found while the rest is read.
        let rest = found.split_off_oldest(FIRST_PART_BYTES);
        let mut total = report(sync(store, found, on_progress)?);
        if rest.n_changed() != 0 {
            total.n_indexed += follow(store, self.index()?, on_progress)?;
            total.add(report(sync(store, rest, on_progress)?));
        }
        total.n_indexed += follow(store, self.index()?, on_progress)?;
        store.tidy(self.now())?;
        Ok(total)
    }

    /// How many transcripts there are.
    pub fn n_feeds(&self) -> Result<usize, EngineError> {
        let mut n_feeds = 0;
        for source in &self.sources().local {
            n_feeds += source.connector.discover()?.feeds.len();
        }
        Ok(n_feeds)
    }

    /// Takes in what has changed, if that is little and nobody else is at it. Says what is left.
    ///
    /// Waits for nobody but, for a moment, whoever is taking something in.
    pub(crate) fn catch_up(&self) -> Result<Freshness, EngineError> {
        let store = self.store()?;
        let found = outlook(store, &self.sources().local)?;
        if found.is_empty() && !is_behind(store, self.index()?)? {
            return Ok(Freshness::default());
        }
        let stale = Freshness { stale_feeds: found.n_changed() as u64, stale_bytes: found.n_bytes };
        if MAX_CATCH_UP_BYTES < found.n_bytes {
            return Ok(stale);
        }
        // What may not be written is answered from as it is.
        if store.is_read_only() {
            return Ok(stale);
        }
        let (_lead, found) = match Lead::take(self.state(), Duration::ZERO)? {
            Some(lead) => (lead, found),
            None => match Lead::take(self.state(), CATCH_UP_PATIENCE)? {
                // Another one has read meanwhile.
                Some(lead) => (lead, outlook(store, &self.sources().local)?),
                None => return Ok(stale),
            },
        };
        sync(store, found, &|_| {})?;
        follow(store, self.index()?, &|_| {})?;
        Ok(Freshness::default())
    }
}

impl SyncReport {
    fn add(&mut self, other: Self) {
        self.n_feeds += other.n_feeds;
        self.n_read += other.n_read;
        self.n_failed += other.n_failed;
        self.n_events += other.n_events;
        self.n_bytes += other.n_bytes;
        self.n_reread += other.n_reread;
        self.n_indexed += other.n_indexed;
        self.problems.extend(other.problems);
    }
}

fn report(summary: Summary) -> SyncReport {
    SyncReport {
        n_feeds: summary.n_feeds,
        n_read: summary.n_read,
        n_failed: summary.n_failed,
        n_events: summary.n_events,
        n_bytes: summary.n_bytes,
        n_reread: summary.n_reread,
        n_indexed: 0,
        problems: summary.problems,
    }
}
