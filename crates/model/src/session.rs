//! A session, and what a transcript tells us about one.

use std::fmt;

use crate::{AgentId, NativeSessionId, SessionId, Timestamp};

/// Who held a session and what that agent calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The agent.
    pub agent: AgentId,
    /// The agent's own name for the session.
    pub native: NativeSessionId,
}

impl SessionKey {
    /// Our id for this session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        SessionId::derive(&self.agent, &self.native)
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.native)
    }
}

/// What a stretch of transcript states about its session.
///
/// `None` means "not stated here", never "cleared". Facts accumulate: of `cwd`, `started_in` the
/// first statement stands (an agent reopens a session where it began), of a title the strongest,
/// of everything else the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// Which session.
    pub key: SessionKey,
    /// A title the agent recorded. We invent none.
    pub title: Option<Title>,
    /// The working directory in which it began, on the machine that held it. First wins.
    pub cwd: Option<String>,
    /// The branch checked out there.
    pub git_branch: Option<String>,
    /// The commit checked out there.
    pub git_commit: Option<String>,
    /// The repository's remote.
    pub git_remote: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The program that started the agent, as recorded: `codex-tui`, `sdk-ts`, `cli`.
    pub originator: Option<String>,
    /// A sub-agent's own name or type.
    pub nickname: Option<String>,
    /// Where it comes from.
    pub lineage: Option<Lineage>,
}

impl SessionFacts {
    /// Facts about `key` that state nothing yet.
    #[must_use]
    pub const fn about(key: SessionKey) -> Self {
        Self {
            key,
            title: None,
            cwd: None,
            git_branch: None,
            git_commit: None,
            git_remote: None,
            agent_version: None,
            originator: None,
            nickname: None,
            lineage: None,
        }
    }
}

/// A title and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The words.
    pub text: String,
    /// Who chose them. The strongest origin wins; among equals, the latest.
    pub origin: TitleOrigin,
}

/// Who chose a title, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TitleOrigin {
    /// A summary that the agent wrote when it moved on.
    Summary,
    /// The agent's model.
    Generated,
    /// The person.
    Person,
}

/// The session that another one comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The other one.
    pub parent: SessionKey,
    /// In what way.
    pub relation: Relation,
}

/// How a session comes from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Its agent was started by the parent to do a part of the work.
    SubAgent,
    /// It began as a copy of the parent.
    Fork,
}

/// What one model call cost, in tokens. Kept once per `key`, however often it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Which session.
    pub session: SessionId,
    /// The agent's name for the call. Of two records with one key the one with more output
    /// tokens stands.
    pub key: String,
    /// Which model, if recorded.
    pub model: Option<String>,
    /// When, if recorded.
    pub at: Option<Timestamp>,
    /// Input tokens that were read anew, cached ones not included.
    pub input: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
}
