//! What sessions cost.

use crate::{SessionRow, Store, StoreError, statements as sql};

/// What one model cost in a session, in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageTotal {
    /// The model, if recorded.
    pub model: Option<String>,
    /// Model calls.
    pub n_calls: u64,
    /// Input tokens read anew.
    pub input: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
}

impl Store {
    /// What a session cost, by model; the one with most calls first.
    pub fn usage(&self, session: SessionRow) -> Result<Vec<UsageTotal>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_USAGE)?;
        let rows = select.query_map([session.0], |row| {
            let count = |column: usize| -> Result<u64, rusqlite::Error> {
                Ok(row.get::<_, i64>(column)?.unsigned_abs())
            };
            Ok(UsageTotal {
                model: row.get(0)?,
                n_calls: count(1)?,
                input: count(2)?,
                cache_read: count(3)?,
                cache_write: count(4)?,
                output: count(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
