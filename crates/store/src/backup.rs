//! Copies of the store for the day when its file is damaged, and that day.
//!
//! | where | what |
//! |---|---|
//! | `backups/store-<date>.db` | the store as it stood then; the newest two are kept |
//! | `damaged/<n>/` | every file that a repair moved aside; never removed by us |
//! | `store.repaired.db` | what a repair has made, complete, until it takes the store's place |
//!
//! A backup is made by `VACUUM INTO`: it reads in one read transaction, so writers go on, and what
//! it writes has no index that was not made anew. It must be given up when something is forgotten:
//! see [`Store::drop_backups`].

mod mend;
mod salvage;
mod source;
mod walk;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ai_hist_model::Timestamp;
use rusqlite::{Connection, OpenFlags};

use crate::{
    Store, StoreError, gate,
    open::{self, FILE_NAME, LOG_BYTES, REPAIRED_NAME, beside},
    place,
};

pub use salvage::Salvaged;

/// How many backups are kept. One may have been made of a store whose damage nobody had seen yet.
const N_BACKUPS: usize = 2;

/// How old the newest backup may become. What a backup lacks is read again from transcripts, which
/// agents keep for a month.
const BACKUP_AGE: Duration = Duration::from_hours(7 * 24);

/// How long moving the log into the file may wait for those who read: it is tried again later.
const TIDY_TIMEOUT: Duration = Duration::from_millis(250);

/// What became of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// It was made.
    Made {
        /// Where.
        path: PathBuf,
        /// Its size.
        n_bytes: u64,
    },
    /// It was not, and nothing else is changed.
    Refused {
        /// Why, for people.
        reason: String,
    },
}

/// What tidying did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tidied {
    /// The log was large and has been emptied.
    pub emptied_log: bool,
    /// A backup was due.
    pub backup: Option<Backup>,
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repaired {
    /// What was wrong with the file. `None` if nothing was: then nothing was changed.
    pub damage: Option<String>,
    /// Where the damaged files are now.
    pub moved_to: Option<PathBuf>,
    /// The backup that was used, if there was a sound one.
    pub backup: Option<PathBuf>,
    /// What was read from the damaged file and the backup.
    pub salvaged: Salvaged,
}

impl Store {
    /// Keeps a copy of the store as it stands. Writers go on meanwhile.
    pub fn back_up(&self, now: Timestamp) -> Result<Backup, StoreError> {
        if self.is_read_only() {
            return Err(StoreError::ReadOnly);
        }
        let db = self.connection()?;
        let date: String =
            db.query_row("SELECT date(?1, 'unixepoch')", [now.0 / 1000], |row| row.get(0))?;
        copy(&db, self.folder(), &date)
    }

    /// Does what is due: empties a large log, makes a backup when the last is old, keeps room for
    /// when there is none. For whoever leads, at the end of a pass; cheap when nothing is due.
    pub fn tidy(&self, now: Timestamp) -> Result<Tidied, StoreError> {
        let mut tidied = Tidied::default();
        if self.is_read_only() {
            return Ok(tidied);
        }
        place::keep_ballast(self.folder());
        tidied.emptied_log = self.empty_log()?;
        if is_due(self.folder(), now) {
            tidied.backup = Some(self.back_up(now)?);
        }
        Ok(tidied)
    }

    fn empty_log(&self) -> Result<bool, StoreError> {
        let log = beside(self.path(), "-wal");
        let is_large = |it: &fs::Metadata| LOG_BYTES.unsigned_abs() < it.len();
        if !fs::metadata(&log).is_ok_and(|it| is_large(&it)) {
            return Ok(false);
        }
        let db = self.connection()?;
        db.busy_timeout(TIDY_TIMEOUT)?;
        let is_blocked: Result<bool, _> =
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        db.busy_timeout(self.patience().timeout())?;
        Ok(!is_blocked?)
    }

    /// Looks at every page of the file.
    pub fn check(&self) -> Result<(), StoreError> {
        quick_check(&*self.connection()?)
    }

    /// Removes every backup: what is forgotten must not come back from one.
    pub fn drop_backups(&self) -> Result<(), StoreError> {
        for path in backups(self.folder()) {
            fs::remove_file(&path).map_err(|source| StoreError::Open { path, source })?;
        }
        Ok(())
    }
}

/// Says what is wrong with the pages of a file, if anything is.
pub(crate) fn quick_check(db: &Connection) -> Result<(), StoreError> {
    verdict(db, "PRAGMA quick_check(1)")
}

fn verdict(db: &Connection, pragma: &str) -> Result<(), StoreError> {
    let said: String = db.query_row(pragma, [], |row| row.get(0))?;
    if said == "ok" { Ok(()) } else { Err(StoreError::Damaged { what: one_line(&said) }) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps a file that is about to get another schema. Gives what there is to say.
pub(crate) fn before_migration(db: &Connection, folder: &Path, schema: usize) -> Option<String> {
    match copy(db, folder, &format!("schema-{schema}")) {
        Ok(Backup::Made { .. }) => None,
        Ok(Backup::Refused { reason }) => Some(format!("no backup before the migration: {reason}")),
        Err(error) => Some(format!("no backup before the migration: {error}")),
    }
}

/// Copies the store into the folder of backups.
fn copy(db: &Connection, folder: &Path, name: &str) -> Result<Backup, StoreError> {
    let kept = folder.join("backups");
    let fail = |path: &Path, source| StoreError::Open { path: path.to_owned(), source };
    open::make_folder(&kept).map_err(|it| fail(&kept, it))?;
    let path = kept.join(format!("store-{name}.db"));
    let made = kept.join(format!("new-{:016x}", gate::chance()));
    let done = write_copy(db, &made).and_then(|n_bytes| {
        fs::rename(&made, &path).map(|()| n_bytes).map_err(|it| fail(&path, it))
    });
    match done {
        Ok(n_bytes) => {
            sync_folder(&kept);
            for old in backups(folder).into_iter().skip(N_BACKUPS) {
                let _ = fs::remove_file(old);
            }
            Ok(Backup::Made { path, n_bytes })
        }
        Err(error) => {
            let _ = fs::remove_file(&made);
            if matches!(error, StoreError::Full(_)) {
                let reason = "the disk has not enough room".to_owned();
                return Ok(Backup::Refused { reason });
            }
            Err(error)
        }
    }
}

fn write_copy(db: &Connection, made: &Path) -> Result<u64, StoreError> {
    let fail = |source| StoreError::Open { path: made.to_owned(), source };
    // SQLite takes an empty file, which is the user's alone from its beginning.
    open::make_file(made).map_err(fail)?;
    db.execute("VACUUM INTO ?1", [made.to_string_lossy()])?;
    quick_check(&open::open_unchanging(made)?)?;
    sync_file(made)?;
    Ok(fs::metadata(made).map_err(fail)?.len())
}

/// The backups there are, the newest first.
fn backups(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("backups")) else {
        return Vec::new();
    };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|it| is_backup(&it.file_name().to_string_lossy()))
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|it| it.1).collect()
}

fn is_backup(name: &str) -> bool {
    name.starts_with("store-") && name.strip_suffix(".db").is_some()
}

/// Whether the newest backup is missing or old. One from the future is as good as none: the clock
/// was wrong then.
fn is_due(folder: &Path, now: Timestamp) -> bool {
    // A store that has no backup is as old as the lock that was made with it.
    let newest = backups(folder).into_iter().next().or_else(|| Some(folder.join("store.lock")));
    let made = newest.and_then(|it| fs::metadata(it).ok()?.modified().ok());
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now.0.unsigned_abs());
    // The file system's clock may be a little ahead.
    let age = made.and_then(|it| (now + Duration::from_mins(1)).duration_since(it).ok());
    age.is_none_or(|it| BACKUP_AGE < it)
}

fn sync_file(path: &Path) -> Result<(), StoreError> {
    let sync = || fs::OpenOptions::new().write(true).open(path)?.sync_all();
    sync().map_err(|source| StoreError::Open { path: path.to_owned(), source })
}

/// Makes a rename last. Not every system can.
fn sync_folder(folder: &Path) {
    let _ = fs::File::open(folder).and_then(|it| it.sync_all());
}

/// Puts a sound store in the place of a damaged one: what can be read of it, and of the newest
/// sound backup what it lacks. What is damaged is moved aside.
///
/// The caller leads, and reads the transcripts again afterwards: feeds that may lack something are
/// marked so that they are read from their beginning.
pub fn repair(
    folder: &Path,
    now: Timestamp,
    on_progress: &dyn Fn(&str),
) -> Result<Repaired, StoreError> {
    place::check(folder)?;
    let _alone = gate::close(folder)?;
    let path = folder.join(FILE_NAME);
    let made = folder.join(REPAIRED_NAME);
    on_progress("checking the store");
    let Some(damage) = damage(&path)? else {
        // One that was not finished is older than what is there.
        remove_database(&made);
        return Ok(Repaired::default());
    };
    let mut repaired = Repaired { damage: Some(damage), ..Repaired::default() };
    let new = folder.join("store.repairing.db");
    remove_database(&new);
    // Nobody has written since one that is complete was made: see `Store::open_with`.
    let is_left = made.exists();
    if !is_left {
        repaired.backup = backups(folder).into_iter().find(|it| is_sound(it));
        let sources = source::Sources { damaged: &path, backup: repaired.backup.as_deref() };
        repaired.salvaged = salvage::into_new(&sources, &new, on_progress)?;
        sync_file(&new)?;
        rename(&new, &made)?;
        sync_folder(folder);
    }
    on_progress("moving the damaged file aside");
    repaired.moved_to = set_aside(folder, now)?;
    rename(&made, &path)?;
    sync_folder(folder);
    Ok(repaired)
}

/// What is wrong with the file, if anything is.
fn damage(path: &Path) -> Result<Option<String>, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    if !path.is_file() {
        let is_lost = folder.join(REPAIRED_NAME).exists() || !backups(folder).is_empty();
        return Ok(is_lost.then(|| "its file is not there".to_owned()));
    }
    let check = || -> Result<(), StoreError> {
        open::check_length(folder, path)?;
        // Not to be written: what is damaged is kept as it was found.
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        verdict(&db, "PRAGMA integrity_check(1)")?;
        salvage::check_pages(&db)
    };
    match check() {
        Ok(()) => Ok(None),
        Err(error) if error.is_damage() => Ok(Some(error.to_string())),
        // A file that is no longer long enough is one that cannot be read.
        Err(StoreError::Sqlite(error)) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

fn is_sound(path: &Path) -> bool {
    let check = || quick_check(&open::open_unchanging(path)?);
    check().is_ok()
}

/// Moves the store's files into a folder of their own. The file goes last: until another one takes
/// its place, nobody makes an empty one.
fn set_aside(folder: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let path = folder.join(FILE_NAME);
    let date = Connection::open_in_memory()?.query_row(
        "SELECT date(?1, 'unixepoch')",
        [now.0 / 1000],
        |row| row.get::<_, String>(0),
    )?;
    let parent = folder.join("damaged");
    let fail = |path: &Path, source| StoreError::Open { path: path.to_owned(), source };
    open::make_folder(&parent).map_err(|it| fail(&parent, it))?;
    let is_free = |it: &PathBuf| !it.exists();
    let names = (1..).map(|n| parent.join(format!("{date}-{n}")));
    let aside = { names }.find(is_free).unwrap_or(parent);
    open::make_folder(&aside).map_err(|it| fail(&aside, it))?;
    for suffix in ["-wal", "-shm", ""] {
        let from = beside(&path, suffix);
        if from.exists() {
            rename(&from, &aside.join(from.file_name().unwrap_or_default()))?;
        }
    }
    sync_folder(&aside);
    Ok(Some(aside))
}

fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|source| StoreError::Open { path: from.to_owned(), source })
}

fn remove_database(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(path, suffix));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DAY: i64 = 24 * 60 * 60 * 1000;

    /// The time of the machine that the test runs on, which also dates its files.
    fn now() -> Timestamp {
        let file = tempfile::NamedTempFile::new().expect("makes a file");
        let metadata = file.as_file().metadata().expect("is there");
        Timestamp(ai_hist_model::Stamp::of(&metadata).modified_ms)
    }

    #[test]
    fn two_backups_are_kept_and_one_is_made_when_it_is_due() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        let now = now();
        let after = |days: i64| store.tidy(Timestamp(now.0 + days * DAY)).expect("tidies").backup;
        assert_eq!(after(0), None, "a store that is new has lost nothing yet");
        assert_eq!(after(6), None);
        assert!(matches!(after(8), Some(Backup::Made { .. })));
        assert_eq!(after(6), None);
        store.back_up(Timestamp(now.0 + 20 * DAY)).expect("backs up");
        let kept: BTreeSet<PathBuf> = backups(dir.path()).into_iter().collect();
        assert_eq!(kept.len(), 2, "{kept:?}");
        let entries = fs::read_dir(dir.path().join("backups")).expect("reads");
        assert_eq!(entries.count(), 2, "nothing else is left");
    }

    #[test]
    fn a_large_log_is_emptied() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        let log = beside(store.path(), "-wal");
        assert!(!store.empty_log().expect("looks"));
        // A long read keeps the log from being used again.
        let reader = Connection::open(store.path()).expect("opens");
        reader.execute_batch("BEGIN; SELECT count(*) FROM session").expect("begins");
        let writer = Connection::open(store.path()).expect("opens");
        writer.execute_batch("CREATE TABLE filling (data BLOB)").expect("makes");
        for _ in 0..70 {
            writer.execute_batch("INSERT INTO filling VALUES (zeroblob(1000000))").expect("writes");
        }
        assert!(LOG_BYTES.unsigned_abs() < fs::metadata(&log).expect("is there").len());
        assert!(!store.empty_log().expect("tries"), "somebody reads");
        reader.execute_batch("COMMIT").expect("ends");
        assert!(store.empty_log().expect("empties"));
        assert_eq!(fs::metadata(&log).expect("is there").len(), 0);
    }
}
