//! A workspace in a folder: one SQLite file, for two agents on one machine or the users of a
//! shared folder, without any server.

mod database;
mod disk;
mod fault;
mod rows;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ai_hist_connector::{ConnectorError, Membership, model::SessionKey};
use rusqlite::TransactionBehavior;

use crate::{
    backend::{Backend, Decide, Held, View},
    folder::{database::Database, fault::Fault, rows::Rows},
    limits::MAX_IDLE_CONNECTIONS,
    page::Page,
};

/// A workspace in a folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    membership: Membership,
    idle: Mutex<Vec<Database>>,
}

impl Folder {
    pub(crate) const fn new(path: PathBuf, membership: Membership) -> Self {
        Self { path, membership, idle: Mutex::new(Vec::new()) }
    }

    /// Asks the database, if there is one.
    fn ask<T>(
        &self,
        session: &SessionKey,
        question: impl FnOnce(&Rows<'_>) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, ConnectorError> {
        let database = match self.take_idle() {
            Some(database) => database,
            None => match Database::open(&self.path)? {
                Some(database) => database,
                None => return Ok(None),
            },
        };
        let rows = Rows { db: &database.db, membership: &self.membership, session };
        let answer = question(&rows).map_err(|it| it.at(&self.path))?;
        self.put_back(database);
        Ok(answer)
    }

    /// A connection from before, unless its file is no longer the one in the folder.
    fn take_idle(&self) -> Option<Database> {
        let database = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        database.is_current(&self.path).then_some(database)
    }

    fn put_back(&self, database: Database) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(database);
        }
    }
}

impl Backend for Folder {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn held(&self, session: &SessionKey) -> Result<Option<Held>, ConnectorError> {
        self.ask(session, |rows| Ok(rows.held()?))
    }

    fn page(
        &self,
        session: &SessionKey,
        generation: u64,
        seq: u64,
    ) -> Result<Option<Page>, ConnectorError> {
        self.ask(session, |rows| Ok(rows.page(generation, seq)?))
    }

    fn change(&self, session: &SessionKey, decide: &mut Decide<'_>) -> Result<(), ConnectorError> {
        let mut database = match self.take_idle() {
            Some(database) => database,
            None => Database::open_or_make(&self.path)?,
        };
        let mut change = || -> Result<(), Fault> {
            let transaction =
                database.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let rows = Rows { db: &transaction, membership: &self.membership, session };
            let view = Locked { rows: &rows, place: &self.path };
            if let Some(change) = decide(&view)? {
                rows.keep(&change)?;
                transaction.commit()?;
            }
            Ok(())
        };
        change().map_err(|it| it.at(&self.path))?;
        self.put_back(database);
        Ok(())
    }
}

/// A session within a transaction that writes: SQLite lets one at a time do that.
struct Locked<'a> {
    rows: &'a Rows<'a>,
    place: &'a Path,
}

impl View for Locked<'_> {
    fn held(&self) -> Result<Option<Held>, ConnectorError> {
        self.rows.held().map_err(|it| Fault::from(it).at(self.place))
    }

    fn page(&self, generation: u64, seq: u64) -> Result<Option<Page>, ConnectorError> {
        self.rows.page(generation, seq).map_err(|it| Fault::from(it).at(self.place))
    }
}
