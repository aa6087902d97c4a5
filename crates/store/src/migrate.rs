//! Bringing an older file up to date. Forward only; a released file is never edited.

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

/// Every migration, in order. The schema's version is how many of them a file has had.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_sessions.sql"),
    include_str!("../migrations/0002_lifecycle.sql"),
];

/// Brings a file up to date. `before` is called first, with the file's schema, if it has one.
pub(crate) fn to_newest(
    db: &mut Connection,
    before: &mut dyn FnMut(&Connection, usize),
) -> Result<(), StoreError> {
    let known = MIGRATIONS.len();
    // The common case takes no lock.
    let found = version(db)?;
    if found == known {
        return Ok(());
    }
    if (1..known).contains(&found) {
        before(db, found);
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

/// Whether the file lacks a migration. One that is newer than we know is refused.
pub(crate) fn is_behind(db: &Connection) -> Result<bool, StoreError> {
    let (found, known) = (version(db)?, MIGRATIONS.len());
    if known < found {
        return Err(StoreError::TooNew { found, known });
    }
    Ok(found < known)
}

fn version(db: &Connection) -> rusqlite::Result<usize> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never(_: &Connection, found: usize) {
        panic!("schema {found} is none to keep");
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut db = Connection::open_in_memory().expect("opens");
        db.pragma_update(None, "user_version", 99).expect("sets");
        let refusal = to_newest(&mut db, &mut never).expect_err("refuses");
        let expected =
            format!("the store has schema 99, and this version knows up to {}", MIGRATIONS.len());
        assert_eq!(refusal.to_string(), expected);
        is_behind(&db).expect_err("refuses");
    }

    #[test]
    fn twice_is_once() {
        let mut db = Connection::open_in_memory().expect("opens");
        to_newest(&mut db, &mut never).expect("migrates");
        to_newest(&mut db, &mut never).expect("migrates");
    }

    #[test]
    fn an_older_file_is_kept_first() {
        let mut db = Connection::open_in_memory().expect("opens");
        db.execute_batch(MIGRATIONS[0]).expect("migrates");
        db.pragma_update(None, "user_version", 1).expect("sets");
        assert!(is_behind(&db).expect("reads"));
        let mut seen = Vec::new();
        to_newest(&mut db, &mut |_, found| seen.push(found)).expect("migrates");
        assert_eq!(seen, [1]);
        assert!(!is_behind(&db).expect("reads"));
    }
}
