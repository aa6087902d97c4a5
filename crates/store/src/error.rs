//! What can go wrong with the store.

use std::{io, path::PathBuf};

use ai_hist_model::{Coded, ErrorCode};

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
    /// SQLite says no.
    #[error("the store cannot be used: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl Coded for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Open { .. } => ErrorCode::StoreUnavailable,
            Self::TooNew { .. } => ErrorCode::StoreTooNew,
            Self::Damaged { .. } => ErrorCode::StoreCorrupt,
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                    ErrorCode::StoreCorrupt
                }
                Some(_) | None => ErrorCode::StoreUnavailable,
            },
        }
    }

    fn hint(&self) -> Option<String> {
        let code = self.code();
        if code == ErrorCode::StoreTooNew {
            return Some("install the newest version of ai-hist".to_owned());
        }
        if code == ErrorCode::StoreCorrupt {
            return Some(
                "move the state folder aside and run `ai-hist sync`: it reads every transcript \
                 that is still there again"
                    .to_owned(),
            );
        }
        Some(
            "check that the state folder may be written and that its disk has room, or set \
             AI_HIST_HOME to another folder"
                .to_owned(),
        )
    }
}
