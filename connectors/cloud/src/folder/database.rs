//! The file of a folder's workspaces: found, made, opened, and told from files of others.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

use ai_hist_connector::ConnectorError;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use crate::{
    folder::{
        disk,
        fault::{Fault, of_io, unreachable},
    },
    limits::BUSY_TIMEOUT,
};

const FILE_NAME: &str = "workspace.db";

const SCHEMA: &str = include_str!("schema.sql");

/// The newest schema that this version knows.
const VERSION: i64 = 1;

/// `aihw`, in the file's header: that it is a workspace database of ours.
const APPLICATION: i64 = 0x6169_6877;

/// An open connection.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) db: Connection,
    file: FileId,
}

/// Tells a file from another one of the same name.
type FileId = Option<(u64, u64)>;

/// Whether a file holds workspaces.
enum Contents {
    Workspaces,
    Nothing,
}

impl Database {
    /// Opens the file, if there is one. A folder that is not there yet is as good as an empty one
    /// if it could be made; one that is out of reach is an error, not a workspace without
    /// sessions.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>, ConnectorError> {
        let path = folder.join(FILE_NAME);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(unreachable(&path, "it is no file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return can_be_made(folder).map(|()| None);
            }
            Err(error) => return Err(of_io(&path, &error)),
        }
        let database = Self::connect(folder)?;
        match contents(&database.db).map_err(|it| it.at(folder))? {
            Contents::Workspaces => Ok(Some(database)),
            Contents::Nothing => Ok(None),
        }
    }

    /// Opens the file, and makes folder, file and tables where there are none.
    pub(super) fn open_or_make(folder: &Path) -> Result<Self, ConnectorError> {
        if let Some(database) = Self::open(folder)? {
            return Ok(database);
        }
        make_folder(folder).map_err(|it| of_io(folder, &it))?;
        make_file(folder).map_err(|it| of_io(&folder.join(FILE_NAME), &it))?;
        let mut database = Self::connect(folder)?;
        make_tables(&mut database.db).map_err(|it| it.at(folder))?;
        let is_local = fs::canonicalize(folder).is_ok_and(|it| disk::carries_log(&it));
        if is_local {
            // Whoever reads just now keeps the file as it is, which is slower and as safe.
            let _ = database.db.pragma_update(None, "journal_mode", "WAL");
        }
        Ok(database)
    }

    /// Whether the file is still the one in `folder`, and still of a version that is known.
    pub(super) fn is_current(&self, folder: &Path) -> bool {
        let metadata = fs::symlink_metadata(folder.join(FILE_NAME));
        metadata.is_ok_and(|it| file_id(&it) == self.file)
            && matches!(contents(&self.db), Ok(Contents::Workspaces))
    }

    fn connect(folder: &Path) -> Result<Self, ConnectorError> {
        // The file itself may be no link: whoever may write to the folder could lead us elsewhere.
        let folder = fs::canonicalize(folder).map_err(|it| of_io(folder, &it))?;
        let path = folder.join(FILE_NAME);
        if is_logged(&path).map_err(|it| of_io(&path, &it))? && !disk::carries_log(&folder) {
            return Err(unreachable(
                &path,
                "it was made for use on one machine, and this folder is not known to be on it; \
                 `PRAGMA journal_mode=DELETE` there makes it fit for a network",
            ));
        }
        let metadata = fs::symlink_metadata(&path).map_err(|it| of_io(&path, &it))?;
        let db = connection(&path).map_err(|it| Fault::from(it).at(&path))?;
        Ok(Self { db, file: file_id(&metadata) })
    }
}

fn connection(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    // Others write to the file too: nothing in its schema may act here.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // A pointer is handed out after the push that it relies on, and must not outlive it.
    db.pragma_update(None, "synchronous", "FULL")?;
    Ok(db)
}

fn contents(db: &Connection) -> Result<Contents, Fault> {
    // Of one moment: tables that another is just making would be of no program yet.
    let moment = if db.is_autocommit() { Some(db.unchecked_transaction()?) } else { None };
    let contents = contents_now(db)?;
    moment.map_or(Ok(()), Transaction::finish)?;
    Ok(contents)
}

fn contents_now(db: &Connection) -> Result<Contents, Fault> {
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application == APPLICATION && VERSION < version {
        return Err(Fault::Known(ConnectorError::Option {
            option: "path",
            problem: format!(
                "names a workspace of schema {version}, and this version knows up to {VERSION}"
            ),
            hint: "update ai-hist on this machine".to_owned(),
        }));
    }
    if application == APPLICATION {
        return Ok(Contents::Workspaces);
    }
    let n_tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if (application, version, n_tables) == (0, 0, 0) {
        return Ok(Contents::Nothing);
    }
    Err(Fault::Known(ConnectorError::Option {
        option: "path",
        problem: format!("names a folder whose `{FILE_NAME}` is of another program"),
        hint: "choose another folder".to_owned(),
    }))
}

fn make_tables(db: &mut Connection) -> Result<(), Fault> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Two may make them at once.
    if matches!(contents(&transaction)?, Contents::Nothing) {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Whether the file is written through a log, as its header says: `SQLite` itself would use the
/// log by looking.
fn is_logged(path: &Path) -> io::Result<bool> {
    let mut header = Vec::with_capacity(20);
    File::open(path)?.take(20).read_to_end(&mut header)?;
    Ok(header.get(18..20).is_some_and(|it| it.contains(&2)))
}

/// The last folder of the path is made; the ones above it must be there. A disk that is not
/// mounted would else be taken for a new place.
fn can_be_made(folder: &Path) -> Result<(), ConnectorError> {
    let parent = folder.parent().unwrap_or(folder);
    for path in [folder, parent] {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Ok(()),
            Ok(_) => return Err(unreachable(path, "it is no folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(of_io(path, &error)),
        }
    }
    Err(unreachable(folder, format!("there is no folder `{}`", parent.display())))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }
}

/// The file is the user's alone, or the group's where the folder is. `SQLite` gives the files
/// beside it the same mode.
fn make_file(folder: &Path) -> io::Result<()> {
    let path = folder.join(FILE_NAME);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    let mode = file_mode(folder)?;
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    // Whoever made the folder the group's meant it, whatever is masked for other files.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    drop(file);
    Ok(())
}

#[cfg(unix)]
fn file_mode(folder: &Path) -> io::Result<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(folder)?.permissions());
    Ok(if mode & 0o020 == 0 { 0o600 } else { 0o660 })
}

#[cfg(unix)]
fn file_id(metadata: &fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

/// Elsewhere an open file cannot be replaced.
#[cfg(not(unix))]
const fn file_id(_metadata: &fs::Metadata) -> FileId {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_whether_it_is_written_through_a_log() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join(FILE_NAME);
        for (bytes, expected) in
            [(vec![], false), (vec![2; 18], false), (vec![2; 19], false), (vec![1; 100], false)]
        {
            fs::write(&path, bytes).expect("writes");
            assert_eq!(is_logged(&path).expect("reads"), expected);
        }
        fs::remove_file(&path).expect("removes");
        for (mode, expected) in [("WAL", true), ("DELETE", false)] {
            let db = Connection::open(&path).expect("opens");
            db.pragma_update(None, "journal_mode", mode).expect("sets");
            db.execute_batch("CREATE TABLE IF NOT EXISTS t (a)").expect("writes");
            drop(db);
            assert_eq!(is_logged(&path).expect("reads"), expected, "{mode}");
        }
    }

    #[test]
    fn two_who_make_the_tables_at_once_make_them_once() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join(FILE_NAME);
        let open = || Connection::open(&path).expect("opens");
        let (mut one, mut other) = (open(), open());
        assert!(matches!(contents(&one), Ok(Contents::Nothing)));
        assert!(matches!(contents(&other), Ok(Contents::Nothing)));
        make_tables(&mut one).expect("makes");
        make_tables(&mut other).expect("finds them made");
        assert!(matches!(contents(&other), Ok(Contents::Workspaces)));
    }
    #[test]
    fn tables_that_are_being_made_are_of_no_other_program() {
        for _ in 0..40 {
            let folder = tempfile::tempdir().expect("makes a folder");
            let path = folder.path().join(FILE_NAME);
            let open = || connection(&path).expect("opens");
            File::create(&path).expect("makes");
            let (mut one, other) = (open(), open());
            std::thread::scope(|scope| {
                scope.spawn(move || make_tables(&mut one).expect("makes"));
                while matches!(contents(&other).expect("reads"), Contents::Nothing) {}
            });
        }
    }
}
