//! What a workspace asks of the place that keeps its pages.
//!
//! Storage primitives only: a backend knows nothing of lines, of the chain over the pages or of
//! what a push means. It is bound to one workspace, as its credentials are.

use std::fmt;

use ai_hist_connector::{
    ConnectorError, Membership,
    model::{EventId, SessionKey, Timestamp},
};

use crate::{hash::Hash, page::Page};

/// A place that keeps pages.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Whose it is. The workspace is the only one that can be reached through it.
    fn membership(&self) -> &Membership;

    /// The session as it stands; `None` if this workspace has none.
    fn held(&self, session: &SessionKey) -> Result<Option<Held>, ConnectorError>;

    /// The page of `generation` that holds event `seq`. A page never changes, so no transaction
    /// spans two calls.
    fn page(
        &self,
        session: &SessionKey,
        generation: u64,
        seq: u64,
    ) -> Result<Option<Page>, ConnectorError>;

    /// Asks `decide` while nobody else can change the session, and keeps all of what it decides,
    /// durably, or nothing.
    fn change(&self, session: &SessionKey, decide: &mut Decide<'_>) -> Result<(), ConnectorError>;
}

/// Looks at a session and says what is to be kept; `None` for nothing.
pub(crate) type Decide<'a> = dyn FnMut(&dyn View) -> Result<Option<Change>, ConnectorError> + 'a;

/// One session, while nobody else can change it.
pub(crate) trait View {
    /// See [`Backend::held`].
    fn held(&self) -> Result<Option<Held>, ConnectorError>;

    /// See [`Backend::page`].
    fn page(&self, generation: u64, seq: u64) -> Result<Option<Page>, ConnectorError>;
}

/// How a session stands in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// How often it was begun anew; the first time is 1.
    pub(crate) generation: u64,
    /// Events in this generation.
    pub(crate) n_events: u64,
    /// Bytes of their lines.
    pub(crate) n_bytes: u64,
    /// The chain after the last page.
    pub(crate) head: Hash,
    /// The last event.
    pub(crate) last: Option<EventId>,
    /// The facts, as [`wire`](crate::wire) writes them.
    pub(crate) facts: String,
    /// When it was last changed.
    pub(crate) updated: Timestamp,
}

impl Held {
    /// Names this content and no other.
    pub(crate) fn revision(&self) -> String {
        let hash = Hash::of(&[&self.head.0, self.facts.as_bytes()]);
        format!("g{}-{}-{hash}", self.generation, self.n_events)
    }
}

/// What is to be kept.
#[derive(Debug)]
pub(crate) struct Change {
    /// How the session stands afterwards.
    pub(crate) held: Held,
    /// The pages of the generation before whose events all come before this one are pages of this
    /// generation too. 0 for none.
    pub(crate) inherits_below: u64,
    /// New pages.
    pub(crate) pages: Vec<Page>,
}
