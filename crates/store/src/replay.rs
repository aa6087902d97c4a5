//! Reading the archive again with a connector that understands more.

use std::collections::BTreeSet;

use ai_hist_model::Batch;
use rusqlite::Connection;

use crate::{
    FeedAccount, Step, Store, StoreError, Taken, Writer, account, erase, intake::Intake,
    statements as sql,
};

/// Feeds that tell of the same sessions: they can only be read again together, since the order of
/// a session's events is the order in which they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The feeds, in the order in which they were first read.
    pub feeds: Vec<FeedAccount>,
}

/// Takes in a stretch.
pub type Take<'a> = dyn FnMut(&Replayed) -> Result<(), StoreError> + 'a;

/// A stretch that was read again.
#[derive(Debug)]
pub struct Replayed {
    /// The feed's row.
    pub feed: i64,
    /// Whose it is. Its commit is not looked at.
    pub step: Step,
    /// Of which generation.
    pub generation: i64,
    /// The stretch.
    pub batch: Batch,
}

impl Store {
    /// The feeds that must be read again together with `feed`.
    pub fn cluster(&self, feed: i64) -> Result<Cluster, StoreError> {
        let db = self.connection()?;
        let mut feeds = Vec::new();
        // Ids are given in the order in which feeds were first read.
        for feed in reach(&db, feed)?.0 {
            feeds.extend(account::read_feeds(&db, sql::SELECT_FEED_BY_ID, [feed])?);
        }
        Ok(Cluster { feeds })
    }
}

impl Writer<'_> {
    /// Says that `feeds` stay as they were read, although their connector has another version.
    pub fn set_reading(&mut self, feeds: &[i64], reading: u32) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        for feed in feeds {
            transaction.prepare_cached(sql::UPDATE_FEED_READING)?.execute((feed, reading))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Replaces what the sessions of `cluster` hold by what `read` gives, in one transaction.
    ///
    /// `read` is called once; it hands each stretch to its argument, feed by feed in the cluster's
    /// order, the generations of each from the first on. If it fails, nothing has changed.
    pub fn replay(
        &mut self,
        cluster: &Cluster,
        read: &mut dyn FnMut(&mut Take<'_>) -> Result<(), StoreError>,
    ) -> Result<Taken, StoreError> {
        let transaction = self.begin()?;
        // They hang together, so from one of them all sessions are reached.
        let sessions = match cluster.feeds.first() {
            Some(feed) => reach(&transaction, feed.id)?.1,
            None => BTreeSet::new(),
        };
        for feed in &cluster.feeds {
            transaction.prepare_cached(sql::DELETE_FEED_TALLY)?.execute([feed.id])?;
            transaction.prepare_cached(sql::DELETE_FEED_SKIPPED)?.execute([feed.id])?;
        }
        for session in sessions {
            erase::events(&transaction, session)?;
        }
        let mut intake = Intake::new(&transaction)?;
        read(&mut |it| intake.replay(it))?;
        let taken = intake.finish()?;
        transaction.commit()?;
        Ok(taken)
    }
}

/// The feeds and sessions that hang together with `feed`.
fn reach(db: &Connection, feed: i64) -> Result<(BTreeSet<i64>, BTreeSet<i64>), StoreError> {
    let mut feeds = BTreeSet::from([feed]);
    let mut sessions = BTreeSet::new();
    let mut ahead = vec![feed];
    while let Some(feed) = ahead.pop() {
        for session in account::sessions_of_feed(db, feed)? {
            if !sessions.insert(session) {
                continue;
            }
            for feed in account::feeds_of_session(db, session)? {
                if feeds.insert(feed) {
                    ahead.push(feed);
                }
            }
        }
    }
    Ok((feeds, sessions))
}
