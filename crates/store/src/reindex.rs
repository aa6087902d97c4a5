//! Sessions whose events the index must drop and take again.
//!
//! The index follows `event.row`, which tells it of what is new. What is removed, or marked as a
//! copy, it learns from here: a list that only grows, of which its commit says how far it has come.

use rusqlite::OptionalExtension as _;

use crate::{SessionRow, Store, StoreError, statements as sql};

/// A session to be indexed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reindex {
    /// Its place in the list.
    pub id: u64,
    /// The session. It may be gone.
    pub session: SessionRow,
}

impl Store {
    /// What is to be indexed again: at most `limit` after `id`.
    pub fn reindex_after(&self, id: u64, limit: usize) -> Result<Vec<Reindex>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_REINDEX)?;
        let parameters = (i64::try_from(id).unwrap_or(i64::MAX), limit);
        let rows = select.query_map(parameters, |row| {
            Ok(Reindex {
                id: row.get::<_, i64>(0)?.unsigned_abs(),
                session: SessionRow(row.get(1)?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The last id that there ever was in the list; 0 if there was none.
    pub fn last_reindex(&self) -> Result<u64, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::whole::SELECT_LAST_REINDEX)?;
        let id: Option<i64> = select.query_row([], |row| row.get(0)).optional()?;
        Ok(id.unwrap_or(0).unsigned_abs())
    }
}
