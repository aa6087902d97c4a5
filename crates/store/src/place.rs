//! Where the state folder lies: on a disk of this machine, with room, and writable.
//!
//! SQLite's write-ahead log needs memory that all processes share, which a network file system does
//! not give: there two machines destroy the store within minutes, and nobody is told.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::{StoreError, gate, open};

/// File systems that several machines may write at once.
const REMOTE: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb2",
    "smb3",
    "smbfs",
    "ncpfs",
    "afs",
    "auristorfs",
    "ceph",
    "lustre",
    "gpfs",
    "beegfs",
    "ocfs2",
    "gfs2",
    "orangefs",
    "pvfs2",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.gcsfuse",
];

/// File systems that may or may not share memory: it is tried.
const UNSURE: &[&str] = &["9p", "virtiofs", "drvfs", "fuse", "fuseblk"];

/// How much room is kept for the moment when there is none. One transaction of a pass and what
/// `forget` writes have less.
const BALLAST_BYTES: usize = 4 * 1024 * 1024;

/// The ballast is only kept where this many times its size is free: taking the last room to be
/// prepared for its lack would bring it about.
const BALLAST_ROOM: usize = 2;

/// A folder for the state, and what should be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The folder.
    pub folder: PathBuf,
    /// Why it is another one than was asked for, if it is.
    pub note: Option<String>,
}

/// Gives the folder where the state that belongs in `folder` can be kept: itself, or one of this
/// machine's if it is on a network file system.
pub fn settle(folder: &Path) -> Result<Settled, StoreError> {
    settle_on(folder, Path::new("/var/tmp"), &file_system)
}

fn settle_on(
    folder: &Path,
    local: &Path,
    file_system: &dyn Fn(&Path) -> Option<String>,
) -> Result<Settled, StoreError> {
    let here = |note| Settled { folder: folder.to_owned(), note };
    let Some(name) = unfit(folder, file_system) else {
        return Ok(here(None));
    };
    if unfit(local, file_system).is_some() {
        return Err(StoreError::Place { path: folder.to_owned(), file_system: name });
    }
    let note =
        format!("`{}` is on {name}: this machine keeps a state of its own", folder.display());
    Ok(Settled { folder: folder_of_this_user(local)?, note: Some(note) })
}

/// Refuses a folder where no store can be kept.
pub(crate) fn check(folder: &Path) -> Result<(), StoreError> {
    match unfit(folder, &file_system) {
        None => Ok(()),
        Some(file_system) => Err(StoreError::Place { path: folder.to_owned(), file_system }),
    }
}

/// The file system of `folder`, if no store can be kept there.
fn unfit(folder: &Path, file_system: &dyn Fn(&Path) -> Option<String>) -> Option<String> {
    let name = file_system(folder)?;
    match judge(&name) {
        Fitness::Fit => None,
        Fitness::Unfit => Some(name),
        // A store that is there has passed the test.
        Fitness::Unsure if folder.join(open::FILE_NAME).is_file() => None,
        Fitness::Unsure => (!shares_memory(folder)).then_some(name),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitness {
    Fit,
    Unsure,
    Unfit,
}

fn judge(file_system: &str) -> Fitness {
    if REMOTE.contains(&file_system) {
        return Fitness::Unfit;
    }
    let family = file_system.split('.').next().unwrap_or_default();
    if UNSURE.contains(&family) { Fitness::Unsure } else { Fitness::Fit }
}

/// Whether two connections see each other's writes through shared memory. Says nothing about two
/// machines.
fn shares_memory(folder: &Path) -> bool {
    if fs::create_dir_all(folder).is_err() {
        // What is wrong is said when the store is opened.
        return true;
    }
    let path = folder.join(format!("test-{:016x}.db", gate::chance()));
    let shares = try_shared(&path).unwrap_or(false);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(open::beside(&path, suffix));
    }
    shares
}

fn try_shared(path: &Path) -> rusqlite::Result<bool> {
    let one = Connection::open(path)?;
    let mode: String =
        one.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    one.execute_batch("CREATE TABLE seen (n INTEGER)")?;
    let two = Connection::open(path)?;
    let count = || two.query_row("SELECT count(*) FROM seen", [], |row| row.get::<_, i64>(0));
    let before = count()?;
    one.execute_batch("INSERT INTO seen VALUES (1)")?;
    Ok(mode == "wal" && (before, count()?) == (0, 1))
}

/// A folder in `parent`, where everybody may make some, that is this user's alone.
#[cfg(unix)]
fn folder_of_this_user(parent: &Path) -> Result<PathBuf, StoreError> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let fail = |path: &Path, source| StoreError::Open { path: path.to_owned(), source };
    // The system's own entry for this process belongs to the user it runs as.
    let process = Path::new("/proc/self");
    let user = fs::metadata(process).map_err(|it| fail(process, it))?.uid();
    let path = parent.join(format!("ai-hist-{user}"));
    match fs::DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(fail(&path, error));
        }
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(&path).map_err(|it| fail(&path, it))?;
    let others = found.mode() & 0o077;
    let is_ours = found.is_dir() && found.uid() == user && others == 0;
    if is_ours { Ok(path) } else { Err(StoreError::NotOurs { path }) }
}

#[cfg(not(unix))]
fn folder_of_this_user(parent: &Path) -> Result<PathBuf, StoreError> {
    Ok(parent.join("ai-hist"))
}

/// The name of the file system that `path` is or would be on, as the system's table of mounts has
/// it; `None` where there is no such table.
fn file_system(path: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let there = path.ancestors().find_map(|it| fs::canonicalize(it).ok())?;
    mounted_at(&mounts, &there).map(str::to_owned)
}

/// The file system of the mount that holds `path`: the deepest, and of those the last.
fn mounted_at<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mut found: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((mount, source)) = line.split_once(" - ") else { continue };
        let Some(point) = mount.split(' ').nth(4).map(unescaped) else { continue };
        let Some(name) = source.split(' ').next() else { continue };
        let depth = Path::new(&point).components().count();
        if path.starts_with(&point) && found.is_none_or(|it| it.0 <= depth) {
            found = Some((depth, name));
        }
    }
    found.map(|it| it.1)
}

/// The table writes blanks and backslashes in octal.
fn unescaped(text: &str) -> String {
    let mut plain = text.to_owned();
    for (code, char) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(code, char);
    }
    plain
}

/// Keeps some room in `folder`, where there is enough. That it cannot be kept harms nobody now.
pub(crate) fn keep_ballast(folder: &Path) {
    let path = folder.join("ballast");
    if path.exists() {
        return;
    }
    let made = folder.join(format!("ballast-{:016x}", gate::chance()));
    let done = write_ballast(&made).and_then(|()| fs::rename(&made, &path));
    if done.is_err() {
        let _ = fs::remove_file(&made);
    }
}

fn write_ballast(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    // Nothing that the file system could leave out or compress.
    let mut state = gate::chance() | 1;
    let mut block = Vec::with_capacity(BALLAST_BYTES / 4);
    while block.len() < BALLAST_BYTES / 4 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block.extend_from_slice(&state.to_le_bytes());
    }
    for _ in 0..4 * BALLAST_ROOM {
        file.write_all(&block)?;
    }
    file.set_len(BALLAST_BYTES as u64)
}

/// Gives up the ballast, so that what was begun can end. Whether there was any.
pub(crate) fn drop_ballast(folder: &Path) -> bool {
    fs::remove_file(folder.join("ballast")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 28 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /home rw shared:2 master:7 - nfs4 server:/home rw
24 22 0:22 / /home/me/my\\040disk rw - btrfs /dev/sdb rw
25 22 0:23 / /mnt rw - ext4 /dev/sdc rw
26 25 0:24 / /mnt rw - fuse.sshfs far: rw
";

    #[test]
    fn the_deepest_and_last_mount_counts() {
        for (path, expected) in [
            ("/", "ext4"),
            ("/homely", "ext4"),
            ("/home/you/.local", "nfs4"),
            ("/home/me/my disk/state", "btrfs"),
            ("/mnt/x", "fuse.sshfs"),
        ] {
            assert_eq!(mounted_at(MOUNTS, Path::new(path)), Some(expected), "{path}");
        }
        assert_eq!(mounted_at("no table", Path::new("/")), None);
    }

    #[test]
    fn what_several_machines_may_write_is_unfit() {
        for (name, expected) in [
            ("ext4", Fitness::Fit),
            ("tmpfs", Fitness::Fit),
            ("overlay", Fitness::Fit),
            ("btrfs", Fitness::Fit),
            ("apfs", Fitness::Fit),
            ("never heard of", Fitness::Fit),
            ("nfs", Fitness::Unfit),
            ("nfs4", Fitness::Unfit),
            ("cifs", Fitness::Unfit),
            ("smb3", Fitness::Unfit),
            ("ceph", Fitness::Unfit),
            ("lustre", Fitness::Unfit),
            ("gpfs", Fitness::Unfit),
            ("afs", Fitness::Unfit),
            ("fuse.sshfs", Fitness::Unfit),
            ("fuse", Fitness::Unsure),
            ("fuse.gocryptfs", Fitness::Unsure),
            ("fuseblk", Fitness::Unsure),
            ("9p", Fitness::Unsure),
            ("virtiofs", Fitness::Unsure),
        ] {
            assert_eq!(judge(name), expected, "{name}");
        }
    }

    #[test]
    fn a_state_on_a_network_goes_to_a_folder_of_this_machine() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let (home, local) = (dir.path().join("home"), dir.path().join("local"));
        fs::create_dir_all(&local).expect("makes a folder");
        let is_home = |it: &Path| it.starts_with(&home);
        let on = |name: &'static str| {
            move |it: &Path| Some(if is_home(it) { name } else { "ext4" }.to_owned())
        };
        let state = home.join("state");
        let settled = settle_on(&state, &local, &on("ext4")).expect("settles");
        assert_eq!(settled, Settled { folder: state.clone(), note: None });
        let settled = settle_on(&state, &local, &on("fuse.gocryptfs")).expect("settles");
        assert_eq!(settled.folder, state, "memory is shared in it");
        assert_eq!(fs::read_dir(&state).expect("was made").count(), 0, "nothing is left");
        let settled = settle_on(&state, &local, &on("nfs4")).expect("settles");
        assert_eq!(settled.folder.parent(), Some(local.as_path()));
        assert!(settled.note.expect("says why").contains("nfs4"));
        let everywhere = |_: &Path| Some("nfs4".to_owned());
        let refusal = settle_on(&state, &local, &everywhere).expect_err("refuses");
        assert!(matches!(refusal, StoreError::Place { .. }), "{refusal}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_open_to_others_or_a_link_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().expect("makes a folder");
        let ours = folder_of_this_user(dir.path()).expect("is made");
        assert_eq!(folder_of_this_user(dir.path()).expect("is there"), ours);
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o755)).expect("opens");
        let refusal = folder_of_this_user(dir.path()).expect_err("refuses");
        assert!(matches!(refusal, StoreError::NotOurs { .. }), "{refusal}");
        fs::remove_dir(&ours).expect("removes");
        let other = dir.path().join("other");
        fs::create_dir(&other).expect("makes a folder");
        fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).expect("closes");
        symlink(&other, &ours).expect("links");
        let refusal = folder_of_this_user(dir.path()).expect_err("refuses");
        assert!(matches!(refusal, StoreError::NotOurs { .. }), "{refusal}");
    }

    #[test]
    fn ballast_is_real_bytes_and_goes_once() {
        let dir = tempfile::tempdir().expect("makes a folder");
        keep_ballast(dir.path());
        let found = fs::metadata(dir.path().join("ballast")).expect("is there");
        assert_eq!(found.len(), BALLAST_BYTES as u64);
        assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), 1);
        assert!(drop_ballast(dir.path()));
        assert!(!drop_ballast(dir.path()));
    }
}
