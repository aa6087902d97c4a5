//! What can go wrong with the store.

use std::{io, path::PathBuf};

use ai_hist_model::{Coded, ErrorCode};
use rusqlite::{ErrorCode as Sqlite, ffi};

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Its folder or file cannot be made or opened.
    #[error("cannot open the store at `{}`", path.display())]
    Open {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It was written by a newer version.
    #[error("the store has schema {found}, and this version knows up to {known}")]
    TooNew {
        /// The file's schema.
        found: usize,
        /// The newest we know.
        known: usize,
    },
    /// What is stored contradicts itself.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// SQLite cannot read its file.
    #[error("the store is damaged: {0}")]
    Corrupt(#[source] rusqlite::Error),
    /// The disk has no room, or the user no quota. What is stored can be read.
    #[error("the store cannot be written: its disk is full")]
    Full(#[source] rusqlite::Error),
    /// The file or its folder may not be written. What is stored can be read.
    #[error("the store may not be written")]
    ReadOnly,
    /// Others have written for longer than this use may wait.
    #[error("the store is being written by others")]
    Busy,
    /// Another process repairs the store.
    #[error("the store at `{}` is being repaired", path.display())]
    UnderRepair {
        /// Where.
        path: PathBuf,
    },
    /// The file that is open is no longer the one at its path: the store was repaired, or the state
    /// folder moved or removed.
    #[error("the store at `{}` is another one than was opened", path.display())]
    Replaced {
        /// Where.
        path: PathBuf,
    },
    /// The folder lies where processes of several machines could write at once, or where memory
    /// cannot be shared.
    #[error("a store cannot be kept at `{}`, which is on {file_system}", path.display())]
    Place {
        /// Where.
        path: PathBuf,
        /// The file system, in the system's words.
        file_system: String,
    },
    /// The folder for stores of this machine belongs to somebody else, or is open to others.
    #[error("`{}` is not a folder of this user alone", path.display())]
    NotOurs {
        /// Where.
        path: PathBuf,
    },
    /// A test made it fail.
    #[error(transparent)]
    Injected(#[from] ai_hist_fault::Injected),
    /// SQLite says no.
    #[error("the store cannot be used: {0}")]
    Sqlite(#[source] rusqlite::Error),
}

impl StoreError {
    /// Whether the file is damaged, so that only a repair helps.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Corrupt(_))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let Some(failure) = error.sqlite_error() else {
            return Self::Sqlite(error);
        };
        let is = |codes: &[Sqlite]| codes.contains(&failure.code);
        if is(&[Sqlite::DatabaseCorrupt, Sqlite::NotADatabase]) {
            return Self::Corrupt(error);
        }
        // The memory that connections share is a file, and could not be made longer.
        if is(&[Sqlite::DiskFull]) || failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
            return Self::Full(error);
        }
        if is(&[Sqlite::ReadOnly]) {
            return Self::ReadOnly;
        }
        if is(&[Sqlite::DatabaseBusy, Sqlite::DatabaseLocked]) {
            return Self::Busy;
        }
        Self::Sqlite(error)
    }
}

impl Coded for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TooNew { .. } => ErrorCode::StoreTooNew,
            Self::Damaged { .. } | Self::Corrupt(_) => ErrorCode::StoreCorrupt,
            Self::Open { .. }
            | Self::Full(_)
            | Self::ReadOnly
            | Self::Busy
            | Self::UnderRepair { .. }
            | Self::Replaced { .. }
            | Self::Place { .. }
            | Self::NotOurs { .. }
            | Self::Injected(_)
            | Self::Sqlite(_) => ErrorCode::StoreUnavailable,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TooNew { .. } => "install the newest version of ai-hist",
            Self::Damaged { .. } | Self::Corrupt(_) => {
                "run `ai-hist doctor --repair`: it keeps the damaged file, and brings back the \
                 newest backup, what can still be read, and every transcript that is still there"
            }
            Self::Full(_) => {
                "make room on the disk of the state folder, or run `ai-hist forget` for sessions \
                 that you do not need; what is stored can be searched meanwhile"
            }
            Self::ReadOnly => {
                "make the state folder writable, or set AI_HIST_HOME to one that is; what is \
                 stored can be searched meanwhile"
            }
            Self::Busy => "try again in a moment",
            Self::UnderRepair { .. } => {
                "try again when `ai-hist doctor --repair` has ended; if none is running, run it"
            }
            Self::Replaced { .. } => "start this program again",
            Self::Place { .. } | Self::NotOurs { .. } => {
                "set AI_HIST_HOME to a folder of yours on a disk of this machine"
            }
            Self::Open { .. } | Self::Sqlite(_) => {
                "check that the state folder may be written and that its disk has room, or set \
                 AI_HIST_HOME to another folder"
            }
            Self::Injected(_) => "nothing is wrong: a test asked for this",
        };
        Some(hint.to_owned())
    }
}
