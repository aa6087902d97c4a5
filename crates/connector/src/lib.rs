//! The contract between ai-hist and one source of transcripts.
//!
//! A connector answers: what is there ([`Connector::discover`]), what is new in it
//! ([`Connector::open`]), how is a session reopened ([`Connector::command`]), which of its
//! sessions is calling us ([`Connector::caller`]), and when should we look again
//! ([`Connector::watch`]). One that shares sessions also takes them in
//! ([`Connector::workspace`]). It answers for a local file and for a remote service with the same
//! types.
//!
//! **Invariant:** this is the only crate of ours that a connector depends on.
//! **Invariant:** a connector never writes to what an agent owns, and learns of the machine only
//! through its [`Host`].
//! **Invariant:** the contract is blocking. The pipeline owns the threads; a connector owns none.

mod contract;
mod error;
mod feed;
mod host;
pub mod jsonl;
pub mod limits;
mod spec;
pub mod walk;
mod workspace;

pub use ai_hist_model as model;
pub use ai_hist_model::Stamp;

pub use contract::{
    AgentCommand, Budget, Call, Caller, Connector, FeedReader, Launch, Patience, Retention, Start,
    Watch,
};
pub use error::ConnectorError;
pub use feed::{Discovery, Feed, FeedPlace, Problem};
pub use host::Host;
pub use spec::{Availability, Capabilities, ConnectorSpec, OptionKind, OptionSpec, Settings};
pub use workspace::{Head, Membership, Push, Workspace};
