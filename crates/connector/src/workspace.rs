//! Sharing sessions: what a connector offers that also takes sessions in.
//!
//! What has been shared is read back through the ordinary contract: one feed per session
//! ([`Connector::locate`](crate::Connector::locate), [`Connector::open`](crate::Connector::open)),
//! so a copy is fetched page by page, from its cursor, like any transcript.

use std::fmt;

use ai_hist_model::{Event, EventId, SessionFacts, SessionKey, Timestamp};

use crate::ConnectorError;

/// The workspace that the connector's credentials open. There is no way to name another.
pub trait Workspace: fmt::Debug + Send + Sync {
    /// Who we are there.
    fn membership(&self) -> Membership;

    /// How much of `session` the workspace holds. `None` if it holds nothing that we may see:
    /// a session of another workspace cannot be told from one that does not exist.
    fn head(&self, session: &SessionKey) -> Result<Option<Head>, ConnectorError>;

    /// Takes in a stretch of a session. The same stretch again changes nothing.
    ///
    /// All of it or nothing is kept. A stretch that does not begin where the head ends is
    /// [`ConnectorError::Conflict`]; `first_seq` 0 on a session that has rows begins a new
    /// generation, which replaces the old one for readers.
    fn push(&self, push: &Push<'_>) -> Result<Head, ConnectorError>;
}

/// Who we are in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The workspace.
    pub workspace: String,
    /// The account.
    pub account: String,
}

/// How much of a session a workspace holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Names this content and no other. Changes with every push that changes anything.
    pub revision: String,
    /// How many events; the next one gets this number.
    pub n_events: u64,
    /// The last event.
    pub last: Option<EventId>,
}

/// A stretch of a session on its way into a workspace. Its text has been redacted.
#[derive(Debug, Clone, Copy)]
pub struct Push<'a> {
    /// All facts about the session, as they now stand.
    pub facts: &'a SessionFacts,
    /// The number of the first event.
    pub first_seq: u64,
    /// The events, in order.
    pub events: &'a [Event],
    /// The time now.
    pub now: Timestamp,
}
