//! Who writes next, and who may not write at all.
//!
//! Two locks of the system, on files that are never removed or renamed:
//!
//! | file | who holds it | how |
//! |---|---|---|
//! | `gate.lock` | who waits for SQLite's write lock | best effort: fairness alone |
//! | `repair.lock` | every writer, shared; a repair, alone | nobody writes into a file that is being moved aside |

use std::{
    collections::hash_map::RandomState,
    fs::{File, OpenOptions, TryLockError},
    hash::{BuildHasher as _, Hasher as _},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::StoreError;

/// How long a use of the store may wait for others that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patience {
    /// Nobody waits for the answer: reading in transcripts, a migration.
    #[default]
    Background,
    /// An agent waits for the answer and gives up before long.
    Call,
}

impl Patience {
    /// How long SQLite waits for its lock.
    pub(crate) const fn timeout(self) -> Duration {
        match self {
            // Twenty processes that write at once all get their turn within this.
            Self::Background => Duration::from_secs(30),
            Self::Call => Duration::from_secs(2),
        }
    }
}

/// How long a writer waits at the gate before it goes on without: a process that was stopped while
/// it held the gate costs the others this much, and no more.
const GATE_PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait before trying the gate again, in microseconds: between the first and the sum of
/// both. Chance keeps those who wait from meeting at every try.
const GATE_RETRY: (u64, u64) = (1_000, 4_000);

/// How long a repair waits for writers to end, and how often it looks.
const REPAIR_PATIENCE: Duration = Duration::from_secs(30);
const REPAIR_RETRY: Duration = Duration::from_millis(20);

/// A lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _file: File,
}

/// Waits for the turn to ask SQLite for its write lock. `None` if that takes too long, or if the
/// lock cannot be used: SQLite decides, this only lines up those who ask.
pub(crate) fn pass(folder: &Path) -> Option<Held> {
    let file = lock_file(&folder.join("gate.lock")).ok()?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(Held { _file: file }),
            Err(TryLockError::WouldBlock) if begun.elapsed() < GATE_PATIENCE => {
                let (least, spread) = GATE_RETRY;
                thread::sleep(Duration::from_micros(least + chance() % spread));
            }
            Err(_) => return None,
        }
    }
}

/// Lets a writer in, unless the store is being repaired.
pub(crate) fn enter(folder: &Path) -> Result<Held, StoreError> {
    let path = folder.join("repair.lock");
    let fail = |source| StoreError::Open { path: path.clone(), source };
    let file = lock_file(&path).map_err(fail)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(Held { _file: file }),
        Err(TryLockError::WouldBlock) => Err(StoreError::UnderRepair { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(fail(error)),
    }
}

/// Waits until nobody writes, and keeps writers out.
pub(crate) fn close(folder: &Path) -> Result<Held, StoreError> {
    let path = folder.join("repair.lock");
    let fail = |source| StoreError::Open { path: path.clone(), source };
    let file = lock_file(&path).map_err(fail)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Held { _file: file }),
            Err(TryLockError::WouldBlock) if begun.elapsed() < REPAIR_PATIENCE => {
                thread::sleep(REPAIR_RETRY);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Busy);
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
}

/// Opens a lock file, and makes it where there is none.
fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A number that nobody can foresee, for names and pauses.
pub(crate) fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_is_held_is_gone_round() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let first = pass(dir.path()).expect("is open");
        assert!(pass(dir.path()).is_none());
        drop(first);
        assert!(pass(dir.path()).is_some());
    }

    #[test]
    fn a_gate_that_cannot_be_made_stops_nobody() {
        assert!(pass(Path::new("/nowhere/at/all")).is_none());
    }

    #[test]
    fn writers_share_and_a_repair_is_alone() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let one = enter(dir.path()).expect("enters");
        let two = enter(dir.path()).expect("enters");
        drop((one, two));
        let repair = close(dir.path()).expect("closes");
        let refusal = enter(dir.path()).expect_err("is kept out");
        assert!(matches!(refusal, StoreError::UnderRepair { .. }), "{refusal}");
        drop(repair);
        enter(dir.path()).expect("enters");
    }
}
