//! The truth: every session and event, and every byte they were read from, in one SQLite file.
//!
//! **Invariant:** SQL over our tables is written in this crate and in no other.
//! **Invariant:** a batch, its raw bytes, its tally and the cursor after it are committed together
//! or not at all.
//! **Invariant:** `event.row` only grows, in commit order, so whoever follows it misses nothing.
//! **Invariant:** any number of processes may use the file at once. Writers take the write lock at
//! their transaction's beginning and compare the feed's cursor with the one they read from, so a
//! process that fell behind changes nothing.

mod account;
mod archive;
mod backup;
mod body;
mod codec;
mod erase;
mod error;
mod events;
mod forks;
mod gate;
mod intake;
mod limits;
mod migrate;
mod open;
mod place;
mod quoted;
mod reindex;
mod replay;
mod screen;
mod sessions;
mod statements;
mod usage;
mod write;

pub use account::{AgentCount, FeedAccount, FeedState, TallyClass, TallyRow};
pub use backup::{Backup, Repaired, Salvaged, Tidied, repair};
pub use erase::Erased;
pub use error::StoreError;
pub use events::{CallPart, Copied, EventWords, SessionRow, StoredEvent};
pub use gate::Patience;
pub use open::Store;
pub use place::{Settled, settle};
pub use reindex::Reindex;
pub use replay::{Cluster, Replayed, Take};
pub use sessions::{Origin, SessionPage, StoredSession};
pub use usage::UsageTotal;
pub use write::{Commit, Step, Taken, Writer};
