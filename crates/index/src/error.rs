//! What can go wrong with the index.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
};

use ai_hist_model::{Coded, ErrorCode};
use tantivy::{TantivyError, directory::error::OpenReadError};

/// What can go wrong with the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Its folder cannot be read or written.
    #[error("cannot use the index at `{}`", path.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process writes it.
    #[error("another process is writing the index")]
    Busy,
    /// A newer version writes it.
    #[error("the index `{generation}` is written by a newer version")]
    TooNew {
        /// Its generation.
        generation: String,
    },
    /// What it holds contradicts itself.
    #[error("the index is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// A test made it fail.
    #[error(transparent)]
    Injected(#[from] ai_hist_fault::Injected),
    /// The library says no: the disk is full, a file is damaged.
    #[error("the index cannot be used: {0}")]
    Engine(#[from] TantivyError),
}

/// Whether the system refused, which says nothing about the files. What a file's content is to
/// blame for has no number of the system's.
pub(crate) fn is_passing(error: &TantivyError) -> bool {
    let (TantivyError::IoError(io_error)
    | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })) = error
    else {
        return false;
    };
    io_error.raw_os_error().is_some() && io_error.kind() != io::ErrorKind::NotFound
}

/// Whether a file's content is to blame.
pub(crate) fn is_damage(error: &TantivyError) -> bool {
    let is_of_files = matches!(
        error,
        TantivyError::IoError(_) | TantivyError::OpenReadError(_) | TantivyError::DataCorruption(_)
    );
    is_of_files && !is_passing(error)
}

/// What `read` gives. `None` if the files contradict themselves: tantivy trusts them, and may panic
/// over one that has changed.
pub(crate) fn unless_damaged<T>(read: impl FnOnce() -> T) -> Option<T> {
    // Nothing that `read` leaves half done is looked at afterwards: it only reads.
    panic::catch_unwind(AssertUnwindSafe(read)).ok()
}

impl Coded for IndexError {
    fn code(&self) -> ErrorCode {
        ErrorCode::IndexUnavailable
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Folder { .. } | Self::Engine(_) => Some(
                "check that the state folder may be written and that its disk has room; the index \
                 may be deleted, it is then built again"
                    .to_owned(),
            ),
            Self::TooNew { .. } => Some("install the newest version of ai-hist".to_owned()),
            Self::Damaged { .. } => {
                Some("run `ai-hist sync`: the index is then built again".to_owned())
            }
            Self::Injected(_) => Some("unset FAILPOINTS, and try again".to_owned()),
            Self::Busy => None,
        }
    }
}
