//! What can go wrong with a search. The words of a query never do.

use ai_hist_index::IndexError;
use ai_hist_model::{Coded, ErrorCode};
use ai_hist_store::StoreError;

/// What can go wrong with a search.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The cursor was not made by us, was altered, or belongs to another query.
    #[error("the cursor does not belong to this query")]
    Cursor,
    /// The index said no.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for QueryError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Cursor => ErrorCode::InvalidCursor,
            Self::Index(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Cursor => Some(
                "repeat the query without a cursor, and pass on `next_cursor` unchanged".into(),
            ),
            Self::Index(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
