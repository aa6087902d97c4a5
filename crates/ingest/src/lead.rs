//! One process at a time reads every source and writes the index.
//!
//! The lock is the operating system's: it goes with the process, however that ends. The file is
//! never removed or renamed, so that all processes lock the same one.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{IngestError, limits::LEAD_RETRY};

/// The leader's place, until it is dropped.
#[derive(Debug)]
pub struct Lead {
    _file: File,
}

impl Lead {
    /// Takes the place if it becomes free within `patience`.
    pub fn take(folder: &Path, patience: Duration) -> Result<Option<Self>, IngestError> {
        let path = folder.join("lead.lock");
        let fail = |source| IngestError::Lock { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(fail)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                    thread::sleep(LEAD_RETRY.min(patience));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_leader_until_it_is_gone() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let first = Lead::take(dir.path(), Duration::ZERO).expect("locks").expect("is free");
        assert!(Lead::take(dir.path(), Duration::ZERO).expect("locks").is_none());
        drop(first);
        assert!(Lead::take(dir.path(), Duration::ZERO).expect("locks").is_some());
    }
}
