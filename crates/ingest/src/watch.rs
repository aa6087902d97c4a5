//! Looking at the sources for as long as a process lives, and taking in what changes.
//!
//! **Invariant:** watching is a comfort. What is missed here is found by the next listing, a
//! question's own or one of ours, so nothing is lost if the system stays silent.
//! **Invariant:** between two passes nothing is held: no lock, no writer, no processor time.
//! **Invariant:** nothing ends a watcher but its owner and a newer program. A pass that fails or
//! panics is counted and tried again; a system that cannot tell of changes is asked at intervals.
//!
//! ```text
//!   Notices ──ring──► Bell ──wake──► Watcher ──pass──► Keeper (leads, reads, indexes)
//!   (the system)                      │  ▲
//!                                     └──┘ Rhythm: when the next pass is due
//! ```

mod bell;
mod notices;
mod program;
mod rhythm;
mod roots;
mod state;
mod watcher;

use std::{path::PathBuf, time::Duration};

use ai_hist_connector::Watch;

pub use state::{Resignation, WatchMode, WatchState};
pub use watcher::Watcher;

/// What a watcher works for: it knows the sources, and takes in what has changed in them.
pub trait Keeper: Send + 'static {
    /// Returns when there is a reason to begin. The watcher can be stopped meanwhile: this thread
    /// is then left behind.
    fn ready(&mut self) {}

    /// When each source wants to be looked at again. Asked anew whenever folders come and go, and
    /// about once a minute.
    fn watches(&mut self) -> Vec<Watch>;

    /// Takes in what has changed. Waits for nobody: another process that is at it is
    /// [`Outcome::Busy`]. Long work asks now and then whether the watching is over, and ends.
    fn pass(&mut self, is_over: &dyn Fn() -> bool) -> Outcome;

    /// Hears of a new [`WatchMode`], and of each failure.
    fn told(&mut self, state: &WatchState) {
        let _ = state;
    }
}

/// What became of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Something was taken in.
    Took,
    /// Something was taken in, and there is more.
    TookPart,
    /// Nothing had changed.
    Nothing,
    /// Another process is at it.
    Busy,
    /// It did not work; with the reason.
    Failed(String),
    /// It will not work again: a newer program has to.
    Resigned(Resignation),
}

/// How to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchSetup {
    /// How to learn of changes.
    pub means: Means,
    /// How long after the beginning the first pass is made.
    pub first_look: Duration,
    /// The program that this process runs. When another file stands there, the watcher resigns.
    pub executable: Option<PathBuf>,
}

/// How to learn of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// The system tells, as far as it can.
    Notices,
    /// By looking at intervals.
    Intervals,
}
