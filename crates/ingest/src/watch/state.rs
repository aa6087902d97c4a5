//! What a watcher says of itself.

use std::fmt;

/// What a watcher says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchState {
    /// How it learns of changes, if it still does.
    pub mode: WatchMode,
    /// Passes made.
    pub n_passes: u64,
    /// Of these, passes that took something in.
    pub n_taken: u64,
    /// Passes given up because another process was at it.
    pub n_busy: u64,
    /// Passes that failed or panicked.
    pub n_failed: u64,
    /// How often the system could not tell of changes any more.
    pub n_fallbacks: u64,
    /// Why the last failed pass failed.
    pub last_error: Option<String>,
}

/// How a watcher learns of changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WatchMode {
    /// It has not begun.
    #[default]
    Waiting,
    /// The system tells it.
    Notices,
    /// It looks at intervals, for this reason.
    Polling(String),
    /// It does not watch any more.
    Resigned(Resignation),
}

/// Why a watcher leaves the work to a newer program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resignation {
    /// Another file stands where this program was started from.
    ProgramReplaced,
    /// The store was written by a newer version.
    StoreTooNew,
}

impl fmt::Display for Resignation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProgramReplaced => "this program was replaced by another version",
            Self::StoreTooNew => "the store was written by a newer version of this program",
        })
    }
}
