//! What can go wrong while taking in.

use std::{io, path::PathBuf};

use ai_hist_connector::ConnectorError;
use ai_hist_index::IndexError;
use ai_hist_model::{Coded, ErrorCode};
use ai_hist_store::StoreError;

/// What can go wrong while taking in. A feed that cannot be read is not an error of the whole: it
/// is counted in the summary and recorded with the feed.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index said no.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A connector could not bring a session up to date.
    #[error(transparent)]
    Connector(#[from] ConnectorError),
    /// What is archived could not be put into a file to be read again.
    #[error("cannot read `{}` again from the archive", path.display())]
    Copy {
        /// The transcript.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The lock file cannot be used.
    #[error("cannot lock `{}`", path.display())]
    Lock {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Coded for IngestError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::Index(error) => error.code(),
            Self::Connector(error) => error.code(),
            Self::Lock { .. } | Self::Copy { .. } => ErrorCode::StoreUnavailable,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Index(error) => error.hint(),
            Self::Connector(error) => error.hint(),
            Self::Lock { .. } | Self::Copy { .. } => {
                Some("check that the state folder may be written and has room".to_owned())
            }
        }
    }
}
