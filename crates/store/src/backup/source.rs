//! A file that is read for a repair, however damaged its beginning is.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};

use crate::{StoreError, migrate, open::beside};

use super::{remove_database, walk::Table};

/// Our pages' size, which is SQLite's own choice.
const PAGE: usize = 4096;

/// How long the file's header is, which stands before what the first page holds.
const HEADER: usize = 100;

/// What the inner page of a table begins with.
const INNER: u8 = 5;

/// Where a repair reads from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) damaged: &'a Path,
    pub(crate) backup: Option<&'a Path>,
}

impl Sources<'_> {
    /// Opens what can be opened, the newest first. Files that this needs are made beside `new`.
    pub(super) fn open(&self, new: &Path) -> Result<Vec<Source>, StoreError> {
        let mut found = Vec::new();
        if self.damaged.is_file() {
            found.extend(open_damaged(self.damaged, &beside(new, "-damaged"))?);
        }
        if let Some(backup) = self.backup {
            // Of an older schema, perhaps: a copy is brought up to date.
            let copy = beside(new, "-backup");
            copy_file(backup, &copy)?;
            let mut db = Connection::open(&copy)?;
            migrate::to_newest(&mut db, &mut |_, _| {})?;
            found.push(Source::new(db, Some(copy)));
        }
        Ok(found)
    }
}

/// A file that is read.
pub(super) struct Source {
    pub(super) db: Connection,
    /// Which numbers its feeds and sessions have in the new store.
    pub(super) feeds: HashMap<i64, i64>,
    pub(super) sessions: HashMap<i64, i64>,
    whole: HashSet<String>,
    copy: Option<PathBuf>,
}

impl Source {
    fn new(db: Connection, copy: Option<PathBuf>) -> Self {
        let names = ["feed", "session", "archive", "event", "body", "feed_session", "tally"];
        let others = ["skipped", "usage", "beginning", "forgotten", "exclusion"];
        let is_whole = |it: &&str| {
            let said: Result<String, _> =
                db.query_row(&format!("PRAGMA integrity_check({it})"), [], |row| row.get(0));
            said.is_ok_and(|it| it == "ok")
        };
        // One look at the file, whoever still writes to it; and no lock for each row.
        let _ = db.execute_batch("BEGIN");
        let whole = names.into_iter().chain(others).filter(is_whole).map(str::to_owned).collect();
        Self { db, feeds: HashMap::new(), sessions: HashMap::new(), whole, copy }
    }

    /// Whether no page of a table and of its indices is damaged.
    pub(super) fn is_whole(&self, table: &str) -> bool {
        self.whole.contains(table)
    }

    /// What this file and the new store both have of a table.
    pub(super) fn table(&self, new: &Connection, name: &'static str) -> Result<Table, StoreError> {
        let columns = |db: &Connection| -> rusqlite::Result<Vec<(String, i64)>> {
            let mut select = db.prepare("SELECT name, pk FROM pragma_table_info(?1)")?;
            select.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let theirs = columns(&self.db).unwrap_or_default();
        let ours = columns(new)?;
        let mut key: Vec<&(String, i64)> = ours.iter().filter(|it| 0 < it.1).collect();
        key.sort_by_key(|it| it.1);
        let key = key.into_iter().map(|it| it.0.clone()).collect();
        let shared = ours.iter().filter(|it| theirs.iter().any(|their| their.0 == it.0));
        let shared = shared.map(|it| it.0.clone()).collect();
        let has_rowid = new.prepare(&format!("SELECT rowid FROM {name}")).is_ok();
        Ok(Table::new(name, shared, key, has_rowid))
    }

    /// Takes from an older file of the same store which row a number stands for, where this one's
    /// row is lost.
    pub(super) fn adopt_numbers(&mut self, older: &Self) {
        let is_lost = [!self.is_whole("feed"), !self.is_whole("session")];
        let pairs = [
            (&mut self.feeds, &older.feeds, is_lost[0]),
            (&mut self.sessions, &older.sessions, is_lost[1]),
        ];
        for (ours, theirs, is_lost) in pairs {
            for (old, new) in theirs.iter().filter(|_| is_lost) {
                ours.entry(*old).or_insert(*new);
            }
        }
    }

    pub(super) fn close(self) {
        drop(self.db);
        if let Some(copy) = self.copy {
            remove_database(&copy);
        }
    }
}

/// Opens the damaged file as it is, else a copy with a new header, else one with a new list of
/// tables; `None` if nothing helps.
fn open_damaged(path: &Path, copy: &Path) -> Result<Option<Source>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    if let Ok(db) = Connection::open_with_flags(path, flags)
        && lists_tables(&db)
    {
        return Ok(Some(Source::new(db, None)));
    }
    for mend in [mend_header, mend_tables] {
        remove_database(copy);
        copy_file(path, copy)?;
        if beside(path, "-wal").is_file() {
            copy_file(&beside(path, "-wal"), &beside(copy, "-wal"))?;
        }
        mend(copy)?;
        if let Ok(db) = Connection::open(copy)
            && lists_tables(&db)
        {
            return Ok(Some(Source::new(db, Some(copy.to_owned()))));
        }
    }
    remove_database(copy);
    Ok(None)
}

fn lists_tables(db: &Connection) -> bool {
    let count = "SELECT count(*) FROM sqlite_schema
                 WHERE name IN ('feed', 'session', 'archive', 'event', 'body')";
    db.query_row(count, [], |row| row.get::<_, i64>(0)).is_ok_and(|it| it == 5)
}

/// Writes the header that our files have, and keeps the rest of the first page.
fn mend_header(copy: &Path) -> Result<(), StoreError> {
    let mut header = fresh_file(copy)?;
    header.truncate(HEADER);
    let fail = |source| StoreError::Open { path: copy.to_owned(), source };
    let file = fs::OpenOptions::new().write(true).open(copy).map_err(fail)?;
    let n_bytes = file.metadata().map_err(fail)?.len();
    let n_pages = u32::try_from(n_bytes / PAGE as u64).unwrap_or(u32::MAX);
    // Whether there is a log, the length in pages, and no list of free ones.
    header[18..20].fill(if beside(copy, "-wal").is_file() { 2 } else { 1 });
    header[28..32].copy_from_slice(&n_pages.to_be_bytes());
    header[32..40].fill(0);
    write_at(file, 0, &header).map_err(fail)
}

/// Writes the pages that list the tables of a new store. That is the list of this one, if all its
/// tables were made at once.
fn mend_tables(copy: &Path) -> Result<(), StoreError> {
    let fresh = fresh_file(copy)?;
    let fail = |source| StoreError::Open { path: copy.to_owned(), source };
    for page in schema_pages(&fresh) {
        if let Some(bytes) = fresh.get(page * PAGE..(page + 1) * PAGE) {
            let file = fs::OpenOptions::new().write(true).open(copy).map_err(fail)?;
            write_at(file, page * PAGE, bytes).map_err(fail)?;
        }
    }
    mend_header(copy)
}

fn write_at(mut file: fs::File, at: usize, bytes: &[u8]) -> io::Result<()> {
    file.seek(io::SeekFrom::Start(at as u64))?;
    file.write_all(bytes)
}

/// The pages of the list of tables, counted from zero: the first one, and those it names if it is
/// an inner page.
fn schema_pages(file: &[u8]) -> Vec<usize> {
    let word = |at: usize| Some(u16::from_be_bytes(file.get(at..at + 2)?.try_into().ok()?));
    let page = |at: usize| {
        let number = u32::from_be_bytes(file.get(at..at + 4)?.try_into().ok()?);
        usize::try_from(number).ok()?.checked_sub(1)
    };
    let mut pages = vec![0];
    if file.get(HEADER) == Some(&INNER) {
        let n_cells = usize::from(word(HEADER + 3).unwrap_or_default());
        let cells = (0..n_cells).filter_map(|i| word(HEADER + 12 + 2 * i));
        pages.extend(cells.filter_map(|it| page(usize::from(it))));
        pages.extend(page(HEADER + 8));
    }
    pages
}

/// The bytes of a new store, which is made beside `path`.
fn fresh_file(path: &Path) -> Result<Vec<u8>, StoreError> {
    let fresh = beside(path, "-fresh");
    remove_database(&fresh);
    let mut db = Connection::open(&fresh)?;
    db.pragma_update(None, "synchronous", "OFF")?;
    migrate::to_newest(&mut db, &mut |_, _| {})?;
    drop(db);
    let bytes = fs::read(&fresh);
    remove_database(&fresh);
    bytes.map_err(|source| StoreError::Open { path: fresh, source })
}

fn copy_file(from: &Path, to: &Path) -> Result<(), StoreError> {
    let fail = |source| StoreError::Open { path: from.to_owned(), source };
    let copy = || -> io::Result<()> {
        crate::open::make_file(to)?;
        io::copy(&mut fs::File::open(from)?, &mut fs::File::create(to)?)?;
        Ok(())
    };
    copy().map_err(fail)
}
