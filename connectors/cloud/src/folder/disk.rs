//! Whether a folder's disk carries SQLite's write-ahead log.
//!
//! The log needs memory that all its users share, so they must be on one machine; over a network
//! it damages the database. The other way, a rollback journal, works everywhere, and costs readers
//! a wait of some milliseconds while somebody writes. So the log is used only where the disk is
//! known to be this machine's.

use std::path::Path;

/// Kinds of file systems that only this machine writes to.
#[cfg(target_os = "linux")]
const LOCAL: &[&str] = &[
    "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "reiserfs",
    "tmpfs", "xfs", "zfs",
];

/// Whether the file system of `folder` is known to carry the log.
#[cfg(target_os = "linux")]
pub(super) fn carries_log(folder: &Path) -> bool {
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else {
        return false;
    };
    kind_of(&mounts, folder).is_some_and(|kind| LOCAL.iter().any(|it| it.as_bytes() == kind))
}

/// Elsewhere nothing tells cheaply and for certain.
#[cfg(not(target_os = "linux"))]
pub(super) const fn carries_log(_folder: &Path) -> bool {
    false
}

/// The kind of the file system that `path`, a path without links, is on.
#[cfg(target_os = "linux")]
fn kind_of<'a>(mounts: &'a [u8], path: &Path) -> Option<&'a [u8]> {
    let mut found = None;
    let mut longest = 0;
    for line in mounts.split(|it| *it == b'\n') {
        let mut words = line.split(|it| *it == b' ');
        let Some(point) = words.nth(4).map(unescape) else {
            continue;
        };
        let kind = words.skip_while(|it| *it != b"-").nth(1);
        // Of two at one place the later one hides the earlier.
        if path.starts_with(&point) && longest <= point.as_os_str().len() {
            longest = point.as_os_str().len();
            found = kind;
        }
    }
    found
}

/// The kernel writes blanks and backslashes as three octal digits.
#[cfg(target_os = "linux")]
fn unescape(point: &[u8]) -> std::path::PathBuf {
    let mut bytes = Vec::with_capacity(point.len());
    let mut at = 0;
    while at < point.len() {
        let digits = point.get(at + 1..at + 4).filter(|_| point[at] == b'\\');
        let byte = digits
            .and_then(|it| std::str::from_utf8(it).ok())
            .and_then(|it| u8::from_str_radix(it, 8).ok());
        bytes.push(byte.unwrap_or(point[at]));
        at += if byte.is_some() { 4 } else { 1 };
    }
    std::path::PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(
        bytes,
    ))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_says_what_a_folder_is_on() {
        let mounts = b"\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw - nfs4 server:/home rw
31 30 0:41 / /home/dev/my\\040disk rw,relatime master:1 shared:2 - xfs /dev/sdb rw
32 22 0:42 / /mnt rw - ext4 /dev/sdc rw
33 32 0:43 / /mnt rw - fuse.sshfs server:/x rw
nonsense
";
        for (path, expected) in [
            ("/srv/team", "ext4"),
            ("/homes", "ext4"),
            ("/home", "nfs4"),
            ("/home/dev/team", "nfs4"),
            ("/home/dev/my disk/team", "xfs"),
            ("/mnt/team", "fuse.sshfs"),
        ] {
            assert_eq!(kind_of(mounts, Path::new(path)), Some(expected.as_bytes()), "`{path}`");
        }
        assert_eq!(kind_of(b"", Path::new("/")), None);
    }

    #[test]
    fn no_network_is_taken_for_a_disk() {
        for kind in ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuse.sshfs", "virtiofs", "ceph"]
        {
            assert!(!LOCAL.contains(&kind), "`{kind}`");
        }
    }
}
