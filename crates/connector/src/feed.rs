//! The unit of incremental progress.

use std::path::PathBuf;

use ai_hist_model::{FeedId, Stamp};

/// One thing that is read on its own: a file, a database, a remote listing.
///
/// A feed may carry one session or many. Progress through it is one
/// [`Cursor`](ai_hist_model::Cursor).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// Its name.
    pub id: FeedId,
    /// Where it is.
    pub place: FeedPlace,
    /// What its size and time were when it was listed. `None`: always look inside.
    pub stamp: Option<Stamp>,
}

/// Where a feed is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedPlace {
    /// A file that its agent appends to.
    AppendedFile(PathBuf),
    /// A file that its agent rewrites whole.
    RewrittenFile(PathBuf),
    /// A database that its agent keeps open.
    Database(PathBuf),
    /// Somewhere else.
    Remote,
}

impl FeedPlace {
    /// The file, where there is one.
    #[must_use]
    pub const fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::AppendedFile(path) | Self::RewrittenFile(path) | Self::Database(path) => {
                Some(path)
            }
            Self::Remote => None,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovery {
    /// The feeds, by id.
    pub feeds: Vec<Feed>,
    /// What could not be listed. While there is any, a feed that is missing may still be there.
    pub problems: Vec<Problem>,
}

/// A place that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What was wrong, for a person.
    pub reason: String,
}
