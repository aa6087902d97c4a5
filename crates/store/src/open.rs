//! Opening the file: one connection that writes, as many as needed that read.

use std::{
    fs, io,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use uuid::Uuid;

use crate::{
    StoreError,
    limits::{MAX_IDLE_CONNECTIONS, WRITE_TIMEOUT},
    migrate, statements as sql,
};

const FILE_NAME: &str = "store.db";

/// The open store. Cheap to share; each use takes a connection of its own.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    uuid: String,
    secret: Vec<u8>,
}

impl Store {
    /// Opens the store in `folder`, makes it where there is none, and brings its schema up to
    /// date. Folder and file are the user's alone.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE_NAME);
        let fail = |source| StoreError::Open { path: path.clone(), source };
        make_folder(folder).map_err(fail)?;
        make_file(&path).map_err(fail)?;
        let mut db = connect(&path)?;
        migrate::to_newest(&mut db)?;
        let uuid = meta(&mut db, "uuid", |it| it.to_string().into_bytes())?;
        let secret =
            meta(&mut db, "secret", |it| [it.into_bytes(), Uuid::new_v4().into_bytes()].concat())?;
        let uuid = String::from_utf8_lossy(&uuid).into_owned();
        Ok(Self { path, idle: Mutex::new(vec![db]), uuid, secret })
    }

    /// Whether `folder` holds a store.
    #[must_use]
    pub fn exists(folder: &Path) -> bool {
        folder.join(FILE_NAME).is_file()
    }

    /// What tells this store from every other one, also from one that a backup was made of and
    /// that went on since: an index built for another store is not used.
    #[must_use]
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// A secret of this store's own, to seal what is handed out and comes back. 32 bytes.
    #[must_use]
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn connection(&self) -> Result<Lease<'_>, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None => connect(&self.path)?,
        };
        Ok(Lease { store: self, db: Some(db) })
    }
}

/// A connection that goes back to its store when it is dropped.
pub(crate) struct Lease<'a> {
    store: &'a Store,
    db: Option<Connection>,
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.db.as_ref().expect("the connection is there until the lease is dropped")
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.db.as_mut().expect("the connection is there until the lease is dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut idle = self.store.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(db) = self.db.take()
            && idle.len() < MAX_IDLE_CONNECTIONS
        {
            idle.push(db);
        }
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(WRITE_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(64);
    if mode(&db)? != "wal" {
        set_wal(&db, path)?;
    }
    db.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(db)
}

fn mode(db: &Connection) -> rusqlite::Result<String> {
    db.pragma_query_value(None, "journal_mode", |row| row.get(0))
}

/// Makes a new file one that many may use at once.
///
/// SQLite refuses that, without waiting, while anybody else looks at the file; and agents that
/// start together open it together. So the first takes a lock, and the others find it done.
fn set_wal(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |source| StoreError::Open { path: path.to_owned(), source };
    let lock = path.with_extension("lock");
    make_file(&lock).map_err(fail)?;
    let lock = fs::OpenOptions::new().write(true).open(&lock).map_err(fail)?;
    lock.lock().map_err(fail)?;
    let begun = Instant::now();
    while mode(db)? != "wal" {
        match db.pragma_update(None, "journal_mode", "WAL") {
            // Another one is between opening the file and asking for the lock.
            Err(error) if is_busy(&error) && begun.elapsed() < WRITE_TIMEOUT => thread::yield_now(),
            done => done?,
        }
    }
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [rusqlite::ErrorCode::DatabaseBusy, rusqlite::ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|it| busy.contains(&it))
}

/// The value `name`, made at first use; two processes that make it at once agree.
fn meta(
    db: &mut Connection,
    name: &str,
    make: impl FnOnce(Uuid) -> Vec<u8>,
) -> Result<Vec<u8>, StoreError> {
    let select = |db: &Connection| {
        db.query_row(sql::SELECT_META, [name], |row| row.get::<_, Vec<u8>>(0)).optional()
    };
    if let Some(value) = select(db)? {
        return Ok(value);
    }
    db.execute(sql::INSERT_META, (name, make(Uuid::new_v4())))?;
    select(db)?.ok_or_else(|| StoreError::Damaged { what: format!("no `{name}` in `meta`") })
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn make_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).open(path).map(|_| ())
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn make_file(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).open(path).map(|_| ())
}
