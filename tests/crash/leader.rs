//! Who leads, by the system's own table of locks.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::limits::LEADER_PAUSE;

/// The lock of the one that leads.
#[derive(Debug, Clone)]
pub(crate) struct LeaderLock {
    path: PathBuf,
}

/// What a watch over the lock saw.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// How often another process was seen to hold it than the time before.
    pub(crate) n_terms: u32,
    /// What must not be: several holders, another file.
    pub(crate) faults: Vec<String>,
}

impl LeaderLock {
    pub(crate) fn of(state: &Path) -> Self {
        Self { path: state.join("lead.lock") }
    }

    /// The process that leads now.
    pub(crate) fn holder(&self) -> Option<i32> {
        self.holders().first().copied()
    }

    fn inode(&self) -> Option<u64> {
        Some(fs::metadata(&self.path).ok()?.ino())
    }

    /// The processes that hold the lock at one moment. One that only waits for it has an arrow in
    /// its line.
    fn holders(&self) -> Vec<i32> {
        let Some(inode) = self.inode() else { return Vec::new() };
        let mut table = fs::File::open("/proc/locks").expect("the system has a table of locks");
        let mut moment = vec![0; 64 * 1024];
        loop {
            // What one call gives is of one moment, and ends with a line's end; the next call goes
            // on in a table that may be another by then.
            let n = table.read(&mut moment).expect("reads");
            let lines = String::from_utf8_lossy(&moment[..n]);
            let holders: Vec<i32> = lines.lines().filter_map(|it| holder_in(it, inode)).collect();
            if n == 0 || !holders.is_empty() {
                return holders;
            }
        }
    }

    /// Watches the lock until `is_over`.
    pub(crate) fn watch(&self, is_over: &AtomicBool) -> Terms {
        let mut terms = Terms::default();
        let mut inode = None;
        let mut last = None;
        while !is_over.load(Ordering::Relaxed) {
            let now = self.inode();
            if inode.is_some() && now != inode {
                terms.faults.push(format!("the lock was file {inode:?} and is {now:?}"));
            }
            inode = now;
            let holders = self.holders();
            if 1 < holders.len() {
                terms.faults.push(format!("{holders:?} lead at once"));
            }
            if let Some(holder) = holders.first()
                && last != Some(*holder)
            {
                last = Some(*holder);
                terms.n_terms += 1;
            }
            thread::sleep(LEADER_PAUSE);
        }
        terms
    }
}

/// The process that `line` of the table says holds the whole file `inode`.
fn holder_in(line: &str, inode: u64) -> Option<i32> {
    let mut words = line.split_whitespace().skip(1);
    let (kind, _, mode) = (words.next()?, words.next()?, words.next()?);
    let pid = words.next()?.parse().ok()?;
    let file: u64 = words.next()?.rsplit(':').next()?.parse().ok()?;
    (kind == "FLOCK" && mode == "WRITE" && file == inode).then_some(pid)
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;

    #[test]
    fn a_holder_is_one_that_does_not_wait() {
        let table = [
            ("3: FLOCK  ADVISORY  WRITE 71 fe:00:42 0 EOF", Some(71)),
            ("3: -> FLOCK  ADVISORY  WRITE 72 fe:00:42 0 EOF", None),
            ("3: FLOCK  ADVISORY  WRITE 71 fe:00:43 0 EOF", None),
            ("3: POSIX  ADVISORY  WRITE 71 fe:00:42 0 EOF", None),
            ("3: FLOCK  ADVISORY  READ 71 fe:00:42 0 EOF", None),
        ];
        for (line, expected) in table {
            assert_eq!(holder_in(line, 42), expected, "{line}");
        }
    }

    #[test]
    fn this_process_is_seen_to_hold_a_lock() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let lock = LeaderLock::of(dir.path());
        assert_eq!(lock.holder(), None);
        let file = fs::File::create(&lock.path).expect("creates");
        assert_eq!(lock.holder(), None);
        file.try_lock().expect("locks");
        assert_eq!(lock.holder(), i32::try_from(process::id()).ok());
        drop(file);
        assert_eq!(lock.holder(), None);
    }
}
