//! Whether the file of this program is still the one that was started.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file that was started, by place and identity.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    identity: Identity,
}

/// What tells one file or folder from another at the same path. `None` where the system has
/// nothing that would.
pub(super) type Identity = Option<(u64, u64)>;

impl Program {
    /// The program at `path`, as it is there. `None` if it cannot be looked at: then nothing can
    /// be said about it later either.
    pub(super) fn at(path: PathBuf) -> Option<Self> {
        let identity = identity(&path)?;
        Some(Self { path, identity })
    }

    /// Whether another file stands there, or none.
    pub(super) fn is_replaced(&self) -> bool {
        self.identity.is_some() && identity(&self.path) != Some(self.identity)
    }
}

/// The identity of what is at `path`; `None` if there is nothing that could be looked at.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|it| identity_of(&it))
}

#[cfg(unix)]
fn identity_of(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
const fn identity_of(_metadata: &fs::Metadata) -> Identity {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_written_anew_or_gone_is_replaced() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let path = dir.path().join("program");
        assert!(Program::at(path.clone()).is_none());
        fs::write(&path, "1").expect("writes");
        let program = Program::at(path.clone()).expect("is there");
        assert!(!program.is_replaced());
        fs::write(dir.path().join("new"), "2").expect("writes");
        fs::rename(dir.path().join("new"), &path).expect("renames");
        assert!(program.is_replaced());
        let program = Program::at(path.clone()).expect("is there");
        fs::remove_file(&path).expect("removes");
        assert!(program.is_replaced());
    }
}
