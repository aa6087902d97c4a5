//! The unit of incremental progress.

use std::{fs::Metadata, path::PathBuf, time::UNIX_EPOCH};

use ai_hist_model::FeedId;

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

/// What tells cheaply that a feed has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub n_bytes: u64,
    /// When it was last written, in milliseconds since the Unix epoch; 0 if unknown.
    pub modified_ms: i64,
}

impl Stamp {
    /// The stamp of a file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let modified_ms = modified.and_then(|it| i64::try_from(it.as_millis()).ok());
        Self { n_bytes: metadata.len(), modified_ms: modified_ms.unwrap_or(0) }
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
