//! From connectors to the store, and from the store to the search index.
//!
//! **Invariant:** one direction: transcripts → store → index. Nothing is written to both.
//! **Invariant:** memory is bounded by the batch budget, the number of readers and the length of
//! the queue between them and the writer, not by the size of any transcript.
//! **Invariant:** one bad feed stops no other: its failure is recorded, and the rest goes on.
//! **Invariant:** the leader lock saves work; correctness rests on the store, which refuses a step
//! from a cursor that has moved.

mod error;
mod follow;
mod lead;
mod limits;
mod pass;
mod refresh;
mod reparse;
mod reread;
mod sync;
mod watch;

pub use error::IngestError;
pub use follow::{follow, is_behind};
pub use lead::Lead;
pub use refresh::refresh;
pub use reread::{Reread, reread};
pub use sync::{Outlook, Phase, Progress, Summary, outlook, sync};
pub use watch::{Keeper, Means, Outcome, Resignation, WatchMode, WatchSetup, WatchState, Watcher};

use ai_hist_connector::Connector;
use ai_hist_model::ConnectorId;

/// A connector at work.
#[derive(Debug)]
pub struct Source {
    /// Its id.
    pub id: ConnectorId,
    /// It.
    pub connector: Box<dyn Connector>,
}
