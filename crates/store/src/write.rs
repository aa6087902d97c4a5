//! Taking in what a connector read.

use ai_hist_model::{Batch, ConnectorId, Cursor, FeedId, SessionKey, Stamp};
use rusqlite::{Transaction, TransactionBehavior};

use crate::{
    Origin, Store, StoreError, account, erase, intake::Intake, open::Lease, sessions,
    statements as sql,
};

/// One step of a pass over a feed.
#[derive(Debug)]
pub struct Step {
    /// Who read it.
    pub connector: ConnectorId,
    /// What was read.
    pub feed: FeedId,
    /// Its file, for people.
    pub path: Option<String>,
    /// Whose sessions these are.
    pub origin: Origin,
    /// The version of how the connector understands records.
    pub reading: u32,
    /// What happened.
    pub commit: Commit,
}

/// What happened in a step.
#[derive(Debug)]
pub enum Commit {
    /// A stretch was read.
    Batch {
        /// The feed's cursor when this stretch was asked for; `None` if it had none.
        ///
        /// If the feed has another one by now, another process has read on, and the step changes
        /// nothing.
        after: Option<Cursor>,
        /// The stretch is the feed's beginning although it has a cursor: it was rewritten.
        restarted: bool,
        /// The stretch.
        batch: Box<Batch>,
    },
    /// The present end was reached.
    End {
        /// The feed's cursor after the last stretch. If it has another one, that stretch was refused
        /// or another process has read on: then this is not the end, and the step changes nothing.
        after: Option<Cursor>,
        /// What the file was like when it was listed.
        stamp: Option<Stamp>,
        /// The bytes beyond the last whole record.
        rest: Vec<u8>,
    },
    /// Reading failed; what was read before stands.
    Failed {
        /// Why.
        problem: String,
    },
}

/// What a transaction took in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// New events.
    pub n_events: u64,
    /// Events that were there already.
    pub n_known: u64,
    /// Raw bytes archived.
    pub n_bytes: u64,
    /// Steps that another process had already made.
    pub n_stale: u64,
}

impl Store {
    /// A writer. Several may exist; SQLite lets one at a time through.
    pub fn writer(&self) -> Result<Writer<'_>, StoreError> {
        Ok(Writer { db: self.connection()? })
    }
}

/// Writes to the store.
pub struct Writer<'a> {
    pub(crate) db: Lease<'a>,
}

impl Writer<'_> {
    /// Takes in `steps`: all of them, or none.
    pub fn commit(&mut self, steps: &[Step]) -> Result<Taken, StoreError> {
        match self.try_commit(steps) {
            // What was begun before the disk was full can end with the room that was kept for it.
            Err(error) if self.db.store.relieve(&error) => self.try_commit(steps),
            done => done,
        }
    }

    fn try_commit(&mut self, steps: &[Step]) -> Result<Taken, StoreError> {
        ai_hist_fault::point("store::begin")?;
        let transaction = self.begin()?;
        let mut intake = Intake::new(&transaction)?;
        for step in steps {
            intake.step(step)?;
        }
        let taken = intake.finish()?;
        ai_hist_fault::point("store::commit")?;
        transaction.commit()?;
        Ok(taken)
    }

    /// Marks the feeds of `connector` that are not in `present` as gone, and those in it as here.
    /// Their history stays.
    pub fn mark_present(
        &mut self,
        connector: &ConnectorId,
        present: &dyn Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        for feed in account::feeds_of(&transaction, connector)? {
            transaction
                .prepare_cached(sql::UPDATE_FEED_GONE)?
                .execute((feed.id, !present(&feed.name)))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Empties the copy of a session that was fetched and has a new generation in its workspace.
    pub fn clear_copy(&mut self, origin: &Origin, key: &SessionKey) -> Result<(), StoreError> {
        debug_assert!(!origin.is_local(), "what this machine's agents wrote is never cleared");
        let transaction = self.begin()?;
        if let Some(session) = sessions::id_of(&transaction, origin, key.id())? {
            erase::events(&transaction, session.row)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Says which revision of the workspace's session the copy now stands for.
    pub fn set_revision(
        &mut self,
        origin: &Origin,
        key: &SessionKey,
        revision: &str,
    ) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        if let Some(session) = sessions::id_of(&transaction, origin, key.id())? {
            let parameters = (session.row, revision);
            transaction.prepare_cached(sql::UPDATE_SESSION_REVISION)?.execute(parameters)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// A transaction that has the write lock from its beginning, so that it never fails half-way
    /// because another one came first.
    pub(crate) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.db.transaction_with_behavior(TransactionBehavior::Immediate)
    }
}
