//! Bringing an older file up to date. Forward only; a released file is never edited.

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

/// Every migration, in order. The schema's version is how many of them a file has had.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_sessions.sql")];

pub(crate) fn to_newest(db: &mut Connection) -> Result<(), StoreError> {
    let known = MIGRATIONS.len();
    // The common case takes no lock.
    if version(db)? == known {
        return Ok(());
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if known < found {
        return Err(StoreError::TooNew { found, known });
    }
    for migration in &MIGRATIONS[found..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

fn version(db: &Connection) -> rusqlite::Result<usize> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_file_is_refused() {
        let mut db = Connection::open_in_memory().expect("opens");
        db.pragma_update(None, "user_version", 99).expect("sets");
        let refusal = to_newest(&mut db).expect_err("refuses");
        assert_eq!(refusal.to_string(), "the store has schema 99, and this version knows up to 1");
    }

    #[test]
    fn twice_is_once() {
        let mut db = Connection::open_in_memory().expect("opens");
        to_newest(&mut db).expect("migrates");
        to_newest(&mut db).expect("migrates");
    }
}
