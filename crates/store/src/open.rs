//! Opening the file: one connection that writes, as many as needed that read.

use std::{
    ffi::OsString,
    fs, io,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use rusqlite::{
    Connection, FileControl, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior,
};
use uuid::Uuid;

use crate::{
    Patience, StoreError, backup, gate,
    limits::{MAX_IDLE_CONNECTIONS, WRITE_TIMEOUT},
    migrate, place, statements as sql,
};

pub(crate) const FILE_NAME: &str = "store.db";

/// A store that a repair has made, complete, on its way to its place.
pub(crate) const REPAIRED_NAME: &str = "store.repaired.db";

/// How many pages the log has when they are moved into the file: SQLite's own number.
const CHECKPOINT_PAGES: i64 = 1_000;

/// How large the log may stay on the disk: a long read may make it larger for a time.
pub(crate) const LOG_BYTES: i64 = 64 * 1024 * 1024;

/// The open store. Cheap to share; each use takes a connection of its own.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    uuid: String,
    secret: Vec<u8>,
    patience: Patience,
    access: Access,
    file: Option<FileId>,
    notes: Vec<String>,
}

/// What may be done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    /// Looking, while others may write.
    Read,
    /// Looking at a file that nobody can change.
    ReadUnchanging,
}

impl Store {
    /// Opens the store in `folder`, makes it where there is none, and brings its schema up to
    /// date. Folder and file are the user's alone.
    ///
    /// Where the file or its folder may not be written, what is stored can be read all the same,
    /// and every write is an error.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, Patience::Background)
    }

    /// Opens the store for uses that wait for others as `patience` says.
    pub fn open_with(folder: &Path, patience: Patience) -> Result<Self, StoreError> {
        place::check(folder)?;
        let path = folder.join(FILE_NAME);
        match Self::open_to_write(folder, &path, patience) {
            // What was begun before the disk was full can end with the room that was kept for it.
            Err(StoreError::Full(_)) if place::drop_ballast(folder) => {
                Self::open_to_write(folder, &path, patience)
            }
            Err(error) if is_forbidden(&error) && path.is_file() => {
                Self::open_to_read(&path, patience)
            }
            done => done,
        }
    }

    fn open_to_write(folder: &Path, path: &Path, patience: Patience) -> Result<Self, StoreError> {
        let fail = |source| StoreError::Open { path: path.to_owned(), source };
        make_folder(folder).map_err(fail)?;
        let _entered = gate::enter(folder)?;
        if folder.join(REPAIRED_NAME).exists() {
            return Err(StoreError::UnderRepair { path: folder.to_owned() });
        }
        check_length(folder, path)?;
        make_file(path).map_err(fail)?;
        let was_left = fs::metadata(beside(path, "-wal")).is_ok_and(|it| it.len() != 0);
        let mut db = connect(path, patience, Access::Write)?;
        // A file that is new has nothing to be checked, and is marked as used once it is made.
        let is_new = fs::metadata(path).is_ok_and(|it| it.len() == 0);
        let boot = boot();
        if patience == Patience::Background && !is_new {
            check_after_crash(&db, folder, was_left, boot.as_deref())?;
        }
        let mut notes = Vec::new();
        migrate::to_newest(&mut db, &mut |db, found| {
            notes.extend(backup::before_migration(db, folder, found));
        })?;
        let uuid = meta(&mut db, "uuid", |it| it.to_string().into_bytes())?;
        let secret =
            meta(&mut db, "secret", |it| [it.into_bytes(), Uuid::new_v4().into_bytes()].concat())?;
        if is_new && fs::metadata(path).is_ok_and(|it| it.len() != 0) {
            check_after_crash(&db, folder, false, boot.as_deref())?;
        }
        place::keep_ballast(folder);
        Self::with(path, db, (uuid, secret), patience, Access::Write, notes)
    }

    fn open_to_read(path: &Path, patience: Patience) -> Result<Self, StoreError> {
        let log = beside(path, "-wal");
        let is_unchanging = fs::metadata(log).map_or(true, |it| it.len() == 0);
        let access = if is_unchanging { Access::ReadUnchanging } else { Access::Read };
        let db = connect(path, patience, access)?;
        if migrate::is_behind(&db)? {
            return Err(StoreError::ReadOnly);
        }
        let value = |name| {
            select_meta(&db, name)?.ok_or_else(|| StoreError::Damaged { what: no_meta(name) })
        };
        let identity = (value("uuid")?, value("secret")?);
        let note = format!("`{}` may not be written: nothing new is read", path.display());
        Self::with(path, db, identity, patience, access, vec![note])
    }

    fn with(
        path: &Path,
        db: Connection,
        (uuid, secret): (Vec<u8>, Vec<u8>),
        patience: Patience,
        access: Access,
        notes: Vec<String>,
    ) -> Result<Self, StoreError> {
        let uuid = String::from_utf8_lossy(&uuid).into_owned();
        let (path, file) = (path.to_owned(), FileId::of(path));
        let idle = Mutex::new(vec![db]);
        Ok(Self { path, idle, uuid, secret, patience, access, file, notes })
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

    /// Whether what is stored can only be read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.access != Access::Write
    }

    /// What somebody should know about how it was opened.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Makes room if `error` says that there is none. Whether it is worth to try again.
    #[must_use]
    pub fn relieve(&self, error: &StoreError) -> bool {
        matches!(error, StoreError::Full(_)) && place::drop_ballast(self.folder())
    }

    pub(crate) const fn patience(&self) -> Patience {
        self.patience
    }

    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    pub(crate) fn connection(&self) -> Result<Lease<'_>, StoreError> {
        self.check_file()?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None => connect(&self.path, self.patience, self.access)?,
        };
        Ok(Lease { store: self, db: Some(db), entered: None })
    }

    /// Whether the open file is still the one at its path. Who goes on writing into a file that was
    /// moved aside writes for nobody.
    fn check_file(&self) -> Result<(), StoreError> {
        if FileId::of(&self.path) == self.file {
            return Ok(());
        }
        Err(StoreError::Replaced { path: self.path.clone() })
    }
}

/// A connection that goes back to its store when it is dropped.
pub(crate) struct Lease<'a> {
    pub(crate) store: &'a Store,
    db: Option<Connection>,
    entered: Option<gate::Held>,
}

impl Lease<'_> {
    /// Begins a transaction, when it is this process's turn.
    ///
    /// Named as the connection's own, so that no writer goes round the gate.
    pub(crate) fn transaction_with_behavior(
        &mut self,
        behavior: TransactionBehavior,
    ) -> Result<Transaction<'_>, StoreError> {
        let store = self.store;
        if store.is_read_only() {
            return Err(StoreError::ReadOnly);
        }
        // Held until the lease ends: no repair begins while this one writes.
        self.entered = Some(gate::enter(store.folder())?);
        store.check_file()?;
        let gate = gate::pass(store.folder());
        let transaction = (**self).transaction_with_behavior(behavior)?;
        drop(gate);
        Ok(transaction)
    }
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

/// What tells a file from one that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// `None` where there is no file, or the system does not number files.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path).ok()?;
        Some(Self { device: found.dev(), inode: found.ino() })
    }

    #[cfg(not(unix))]
    fn of(_path: &Path) -> Option<Self> {
        None
    }
}

/// The path of a file that SQLite keeps beside `path`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn connect(path: &Path, patience: Patience, access: Access) -> Result<Connection, StoreError> {
    let shared = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match access {
        Access::Write => {
            Connection::open_with_flags(path, shared | OpenFlags::SQLITE_OPEN_READ_WRITE)?
        }
        Access::Read => {
            Connection::open_with_flags(path, shared | OpenFlags::SQLITE_OPEN_READ_ONLY)?
        }
        Access::ReadUnchanging => open_unchanging(path)?,
    };
    db.busy_timeout(patience.timeout())?;
    db.set_prepared_statement_cache_capacity(64);
    if access != Access::Write {
        return Ok(db);
    }
    if mode(&db)? != "wal" {
        set_wal(&db, path)?;
    }
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    db.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // The shared memory is a file, which the last one to leave would remove. Where the disk is
    // full, the next one could not make it again, and could not even read.
    db.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
    Ok(db)
}

/// Opens a file without its log and its shared memory, which cannot be made.
pub(crate) fn open_unchanging(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI;
    let name = path.to_string_lossy();
    let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Ok(Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)?)
}

/// Whether a file is there that may be read and not written.
fn is_forbidden(error: &StoreError) -> bool {
    match error {
        StoreError::ReadOnly => true,
        StoreError::Open { source, .. } => {
            let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
            kinds.contains(&source.kind())
        }
        StoreError::Sqlite(error) => {
            error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen)
        }
        StoreError::TooNew { .. }
        | StoreError::Damaged { .. }
        | StoreError::Corrupt(_)
        | StoreError::Full(_)
        | StoreError::Busy
        | StoreError::UnderRepair { .. }
        | StoreError::Replaced { .. }
        | StoreError::Place { .. }
        | StoreError::NotOurs { .. }
        | StoreError::Injected(_) => false,
    }
}

/// Refuses a file that has become empty: SQLite would take it for a new one.
pub(crate) fn check_length(folder: &Path, path: &Path) -> Result<(), StoreError> {
    // In this order: the mark is made when the file is no longer empty.
    let was_used = folder.join("boot").exists();
    if was_used && fs::metadata(path).is_ok_and(|it| it.len() == 0) {
        return Err(StoreError::Damaged { what: "its file is empty".to_owned() });
    }
    Ok(())
}

/// Checks the file once after the machine went down while it was in use: what the disk had not
/// written then may be missing.
///
/// A process that dies harms nothing, and happens all the time. So it counts when the machine was
/// started: another time than when the file was last opened, with a log that nobody closed.
fn check_after_crash(
    db: &Connection,
    folder: &Path,
    was_left: bool,
    boot: Option<&str>,
) -> Result<(), StoreError> {
    let path = folder.join("boot");
    let (Some(boot), last) = (boot, fs::read_to_string(&path).ok()) else {
        return Ok(());
    };
    if last.as_deref() == Some(boot) {
        return Ok(());
    }
    if was_left && last.is_some() {
        backup::quick_check(db)?;
    }
    // If this is not written, the next one checks again.
    let made = folder.join(format!("boot-{:016x}", gate::chance()));
    if make_file(&made).and_then(|()| fs::write(&made, boot)).is_ok() {
        let _ = fs::rename(&made, &path);
    }
    Ok(())
}

/// What tells this run of the machine from every other one, where the system says.
fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
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
    if let Some(value) = select_meta(db, name)? {
        return Ok(value);
    }
    db.execute(sql::INSERT_META, (name, make(Uuid::new_v4())))?;
    select_meta(db, name)?.ok_or_else(|| StoreError::Damaged { what: no_meta(name) })
}

fn select_meta(db: &Connection, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(db.query_row(sql::SELECT_META, [name], |row| row.get(0)).optional()?)
}

fn no_meta(name: &str) -> String {
    format!("no `{name}` in `meta`")
}

#[cfg(unix)]
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
pub(crate) fn make_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // A file that is there is not opened: to close it again would drop what locks this process
    // has on it.
    if path.exists() {
        return Ok(());
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).open(path).map(|_| ())
}

#[cfg(not(unix))]
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
pub(crate) fn make_file(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).open(path).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        (dir, store)
    }

    #[test]
    fn a_full_disk_is_said_and_the_ballast_given_up_once() {
        let (dir, store) = store();
        let mut lease = store.connection().expect("connects");
        // SQLite says of a file that may not grow what it says of a disk.
        lease.pragma_update(None, "max_page_count", 1).expect("sets");
        let transaction =
            lease.transaction_with_behavior(TransactionBehavior::Immediate).expect("begins");
        let fills = transaction.execute("INSERT INTO body (data) VALUES (zeroblob(99999))", []);
        let error = StoreError::from(fills.expect_err("there is no room"));
        assert!(matches!(error, StoreError::Full(_)), "{error}");
        drop(transaction);
        assert!(dir.path().join("ballast").exists());
        assert!(!store.relieve(&StoreError::Busy));
        assert!(store.relieve(&error));
        assert!(!dir.path().join("ballast").exists());
        assert!(!store.relieve(&error));
    }

    #[test]
    fn only_a_machine_that_went_down_has_its_store_checked() {
        let (dir, store) = store();
        let folder = dir.path();
        fs::write(folder.join("boot"), "a").expect("writes");
        let db = store.connection().expect("connects");
        db.execute_batch("PRAGMA writable_schema = ON").expect("sets");
        // An index that has no rows of its table.
        db.execute_batch(
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema
             WHERE name = 'body') WHERE name = 'session_by_native'",
        )
        .expect("damages");
        drop(db);
        let db = connect(store.path(), Patience::Background, Access::Write).expect("opens");
        let check = |was_left, boot| check_after_crash(&db, folder, was_left, boot);
        check(true, None).expect("the system does not say");
        check(true, Some("a")).expect("the machine still runs");
        let error = check(true, Some("b")).expect_err("is damaged");
        assert!(error.is_damage(), "{error}");
        check(true, Some("b")).expect_err("stays damaged");
        check(false, Some("b")).expect("it was closed before");
        check(true, Some("b")).expect("the machine still runs");
    }

    #[test]
    fn many_that_open_in_turn_agree_and_leave_nothing_behind() {
        let (dir, store) = store();
        let again = Store::open_with(dir.path(), Patience::Call).expect("opens");
        assert_eq!(again.uuid(), store.uuid());
        let entries = fs::read_dir(dir.path()).expect("reads");
        let names = entries.map(|it| it.expect("reads").file_name().into_string().expect("is"));
        let left: Vec<String> =
            names.filter(|it| it.contains("boot-") || it.contains("ballast-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
