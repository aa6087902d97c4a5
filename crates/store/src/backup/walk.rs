//! Reading the rows of a table of which some pages cannot be read.

use rusqlite::{Connection, Row, Rows, Statement};

use crate::StoreError;

/// How many numbers without a readable row are tried one by one before what follows is given up:
/// more than hang on one inner page of a table.
const N_MISSES: u32 = 200_000;

/// A table, and which columns of it are read.
#[derive(Debug, Clone)]
pub(super) struct Table {
    name: &'static str,
    pub(super) columns: Vec<String>,
    /// Whether its rows have numbers.
    has_rowid: bool,
    /// The columns that its rows are ordered by if they have none.
    key: Vec<String>,
}

impl Table {
    pub(super) fn new(
        name: &'static str,
        columns: Vec<String>,
        key: Vec<String>,
        has_rowid: bool,
    ) -> Self {
        Self { name, columns, has_rowid, key }
    }

    /// A table that is ordered by these columns.
    pub(super) fn of_names(name: &'static str, key: &[&str], has_rowid: bool) -> Self {
        let key: Vec<String> = key.iter().map(|it| (*it).to_owned()).collect();
        Self { name, columns: key.clone(), has_rowid, key }
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|it| it == column)
    }

    /// The statement that adds a row, unless one of its key is there.
    pub(super) fn insert(&self) -> String {
        let marks = vec!["?"; self.columns.len()].join(", ");
        let columns = self.columns.join(", ");
        format!("INSERT OR IGNORE INTO {} ({columns}) VALUES ({marks})", self.name)
    }

    fn select(&self, rest: &str) -> String {
        let rowid = if self.has_rowid { ", rowid AS at_rowid" } else { "" };
        format!("SELECT {}{rowid} FROM {} {rest}", self.columns.join(", "), self.name)
    }
}

/// What `take` is called with: its errors are of the store that is written, not of this one.
pub(super) type Take<'a> = dyn FnMut(&Row<'_>) -> rusqlite::Result<()> + 'a;

/// Gives every row of `table` that can be read; some may come twice. Damage is no error.
pub(super) fn rows(db: &Connection, table: &Table, take: &mut Take<'_>) -> Result<(), StoreError> {
    if table.columns.is_empty() {
        return Ok(());
    }
    if table.has_rowid { numbered(db, table, take) } else { keyed(db, table, take) }
}

/// From both ends to the damage.
fn keyed(db: &Connection, table: &Table, take: &mut Take<'_>) -> Result<(), StoreError> {
    for direction in ["ASC", "DESC"] {
        let order: Vec<String> = table.key.iter().map(|it| format!("{it} {direction}")).collect();
        let Ok(mut select) = db.prepare(&table.select(&format!("ORDER BY {}", order.join(", "))))
        else {
            return Ok(());
        };
        let Ok(mut rows) = select.query([]) else { return Ok(()) };
        if each(&mut rows, &mut |row| take(row))? {
            return Ok(());
        }
    }
    Ok(())
}

/// Along the numbers, and past each that cannot be read.
fn numbered(db: &Connection, table: &Table, take: &mut Take<'_>) -> Result<(), StoreError> {
    let (Ok(mut along), Ok(mut single)) = (
        db.prepare(&table.select("WHERE ?1 <= rowid ORDER BY rowid")),
        db.prepare(&table.select("WHERE rowid = ?1")),
    ) else {
        return Ok(());
    };
    let last: i64 = db
        .query_row(&format!("SELECT max(rowid) FROM {}", table.name), [], |row| row.get(0))
        .unwrap_or(i64::MAX);
    let mut next = i64::MIN;
    let mut n_misses = 0;
    loop {
        let Ok(mut rows) = along.query([next]) else { return Ok(()) };
        let is_end = each(&mut rows, &mut |row| {
            next = row.get::<_, i64>("at_rowid")?.saturating_add(1);
            take(row)
        })?;
        drop(rows);
        if is_end {
            return Ok(());
        }
        // No row has a number below one.
        next = next.max(1);
        if is_hopeless(&mut single) {
            return Ok(());
        }
        loop {
            if last < next || N_MISSES < n_misses {
                return Ok(());
            }
            let mut is_there = false;
            let Ok(mut rows) = single.query([next]) else { return Ok(()) };
            next += 1;
            each(&mut rows, &mut |row| {
                is_there = true;
                take(row)
            })?;
            if is_there {
                n_misses = 0;
                break;
            }
            n_misses += 1;
        }
    }
}

/// Whether no number at all can be looked up: the damage is where the table begins.
fn is_hopeless(single: &mut Statement<'_>) -> bool {
    let mut fails =
        |number: i64| single.query([number]).and_then(|mut it| it.next().map(drop)).is_err();
    (0..62).all(|shift| fails(1 << shift))
}

/// Gives rows until the end, which is `true`, or damage.
fn each(rows: &mut Rows<'_>, take: &mut Take<'_>) -> Result<bool, StoreError> {
    loop {
        match rows.next() {
            Ok(Some(row)) => match take(row) {
                // A value that is not of its column's type is damage of this row.
                Err(
                    rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
                    | rusqlite::Error::Utf8Error(..),
                ) => {}
                done => done?,
            },
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        }
    }
}
