//! What SQLite and the file system say, in the contract's words.

use std::{io, path::Path};

use ai_hist_connector::ConnectorError;
use rusqlite::ErrorCode;

use crate::limits::BUSY_TIMEOUT;

/// What can go wrong with the database.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite said no.
    Sql(rusqlite::Error),
    /// Something that has its error already.
    Known(ConnectorError),
}

impl Fault {
    /// The error, for a workspace at `place`.
    pub(super) fn at(self, place: &Path) -> ConnectorError {
        match self {
            Self::Known(error) => error,
            Self::Sql(error) => of_sql(place, &error),
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<ConnectorError> for Fault {
    fn from(error: ConnectorError) -> Self {
        Self::Known(error)
    }
}

pub(super) fn unreachable(place: &Path, reason: impl Into<String>) -> ConnectorError {
    ConnectorError::Unreachable { place: place.display().to_string(), reason: reason.into() }
}

pub(super) fn of_io(place: &Path, error: &io::Error) -> ConnectorError {
    unreachable(place, error.to_string())
}

fn of_sql(place: &Path, error: &rusqlite::Error) -> ConnectorError {
    let code = error.sqlite_error_code();
    if matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) {
        let seconds = BUSY_TIMEOUT.as_secs();
        return unreachable(place, format!("others have been writing for more than {seconds} s"));
    }
    let is_damaged = match code {
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase),
        // A value that is not what its column holds.
        None => true,
    };
    if is_damaged {
        return ConnectorError::Damaged { what: format!("`{}`: {error}", place.display()) };
    }
    unreachable(place, error.to_string())
}
