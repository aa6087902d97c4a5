//! What a person may write to mean a session.

use ai_hist_model::{AgentId, NativeSessionId, SessionKey};
use ai_hist_store::{Origin, SessionPage, Store, StoredSession};

use crate::{HandoffError, limits::MAX_CANDIDATES};

/// What a person wrote to mean a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// The one with the latest activity.
    Latest,
    /// `source:id`, where the id may be shortened.
    Of {
        /// The agent.
        agent: AgentId,
        /// The id, or its beginning.
        id: String,
    },
    /// An id, its beginning, or words of a title.
    Words(String),
}

impl Reference {
    /// Takes what was written. `agents` are the names that may stand before a colon.
    #[must_use]
    pub fn parse(text: &str, agents: &[AgentId]) -> Self {
        let text = text.trim();
        if text == "latest" {
            return Self::Latest;
        }
        if let Some((agent, id)) = text.split_once(':')
            && let Some(agent) = agents.iter().find(|it| it.as_str() == agent)
        {
            return Self::Of { agent: agent.clone(), id: id.to_owned() };
        }
        Self::Words(text.to_owned())
    }
}

/// The one session that `reference` means.
///
/// An exact id wins over the beginning of one, and that over words of a title; this machine's own
/// session over a fetched copy. Never guesses between two.
pub fn resolve(store: &Store, reference: &Reference) -> Result<StoredSession, HandoffError> {
    match reference {
        Reference::Latest => {
            let newest = store.sessions(SessionPage::FIRST, MAX_CANDIDATES)?;
            let own = newest.iter().find(|it| it.origin.is_local()).or(newest.first()).cloned();
            own.ok_or_else(|| HandoffError::NotFound { reference: "latest".to_owned() })
        }
        Reference::Of { agent, id } => {
            if let Some(native) = NativeSessionId::parse(id) {
                let key = SessionKey { agent: agent.clone(), native };
                if let Some(session) = store.session(&Origin::local(), &key)? {
                    return Ok(session);
                }
            }
            let found = store.sessions_by_prefix(id, MAX_CANDIDATES * 4)?;
            let found = found.into_iter().filter(|it| it.facts.key.agent == *agent).collect();
            one(&format!("{agent}:{id}"), id, found)
        }
        Reference::Words(words) if words.is_empty() => {
            Err(HandoffError::NotFound { reference: String::new() })
        }
        Reference::Words(words) => {
            let mut found = store.sessions_by_prefix(words, MAX_CANDIDATES * 4)?;
            if found.is_empty() {
                found = store.sessions_by_title(words, MAX_CANDIDATES + 1)?;
            }
            one(words, words, found)
        }
    }
}

fn one(
    reference: &str,
    id: &str,
    mut found: Vec<StoredSession>,
) -> Result<StoredSession, HandoffError> {
    // A copy of a session that is here itself is no second candidate.
    let own: Vec<SessionKey> =
        found.iter().filter(|it| it.origin.is_local()).map(|it| it.facts.key.clone()).collect();
    found.retain(|it| it.origin.is_local() || !own.contains(&it.facts.key));
    if found.iter().any(|it| it.facts.key.native.as_str() == id) {
        found.retain(|it| it.facts.key.native.as_str() == id);
    }
    // The beginning of a session's id is also that of its sub-agents' ids.
    if 1 < found.len() {
        let main = &found[0].facts.key;
        let dotted = format!("{}.", main.native);
        let is_family = |it: &StoredSession| {
            it.facts.key == *main || it.facts.key.native.as_str().starts_with(&dotted)
        };
        if found.iter().all(is_family) {
            found.truncate(1);
        }
    }
    match found.len() {
        0 => Err(HandoffError::NotFound { reference: reference.to_owned() }),
        1 => Ok(found.remove(0)),
        _ => {
            let candidates =
                found.iter().map(|it| format!("{} ({})", it.facts.key, it.display_title()));
            Err(HandoffError::ambiguous(reference, candidates.collect()))
        }
    }
}
