//! Sessions and those that come from them.

use ai_hist_handoff::CONTENT_TRUST;
use ai_hist_model::Relation;
use ai_hist_store::StoredSession;
use serde::Serialize;

use crate::{
    Engine, EngineError, RowStyle, SessionRow,
    history::session_row,
    limits::{MAX_TREE_DEPTH, MAX_TREE_SESSIONS},
};

/// A session with those that come from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionTree {
    /// The session.
    #[serde(flatten)]
    pub session: SessionRow,
    /// How it comes from the one above: `sub_agent`, `fork`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'static str>,
    /// A sub-agent's own name or type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// Those that come from it, the first begun first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
}

/// The whole tree that a session is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Family {
    /// The one that all come from.
    pub root: SessionTree,
    /// How many sessions are in it.
    pub n_sessions: usize,
    /// Whether there are more than are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

impl Engine {
    /// The tree that the session `reference` is in, from its root.
    pub fn family(&self, reference: &str) -> Result<Family, EngineError> {
        let store = self.store()?;
        let mut top = self.current(reference)?;
        // What a transcript says of its parent may lead round in a circle.
        for _ in 0..MAX_TREE_DEPTH {
            let Some(lineage) = &top.facts.lineage else { break };
            match store.session(&top.origin, &lineage.parent)? {
                Some(parent) => top = parent,
                None => break,
            }
        }
        let mut seen = vec![top.row];
        let root = self.tree(&top, MAX_TREE_DEPTH, &mut seen)?;
        let truncated = MAX_TREE_SESSIONS <= seen.len();
        Ok(Family { root, n_sessions: seen.len(), truncated, content_trust: CONTENT_TRUST })
    }

    fn tree(
        &self,
        session: &StoredSession,
        depth: usize,
        seen: &mut Vec<ai_hist_store::SessionRow>,
    ) -> Result<SessionTree, EngineError> {
        let lineage = session.facts.lineage.as_ref();
        let mut tree = SessionTree {
            session: session_row(session),
            relation: lineage.map(|it| match it.relation {
                Relation::SubAgent => "sub_agent",
                Relation::Fork => "fork",
            }),
            nickname: session.facts.nickname.clone(),
            children: Vec::new(),
        };
        if depth == 0 {
            return Ok(tree);
        }
        for child in self.store()?.children(&session.facts.key)? {
            let is_other = child.origin == session.origin && !seen.contains(&child.row);
            if is_other && seen.len() < MAX_TREE_SESSIONS {
                seen.push(child.row);
                tree.children.push(self.tree(&child, depth - 1, seen)?);
            }
        }
        Ok(tree)
    }
}

impl Family {
    /// The same for an agent: titles and paths short and without secrets.
    #[must_use]
    pub fn for_agents(mut self, style: RowStyle<'_>) -> Self {
        self.root.clean(style);
        self
    }
}

impl Family {
    /// Leaves out the deepest level. Gives whether there was one below the root.
    pub fn prune(&mut self) -> bool {
        let depth = self.root.depth();
        self.truncated = true;
        self.root.cut(depth);
        1 < depth
    }
}

impl SessionTree {
    fn depth(&self) -> usize {
        1 + self.children.iter().map(Self::depth).max().unwrap_or(0)
    }

    /// Leaves out what is `depth` levels deep, this one being the first.
    fn cut(&mut self, depth: usize) {
        if depth <= 2 {
            let n_kept = if depth == 2 { self.children.len() / 2 } else { self.children.len() };
            self.children.truncate(n_kept);
            return;
        }
        for child in &mut self.children {
            child.cut(depth - 1);
        }
    }

    fn clean(&mut self, style: RowStyle<'_>) {
        self.session.clean(style);
        self.nickname = self.nickname.as_deref().map(|it| style.name(it));
        for child in &mut self.children {
            child.clean(style);
        }
    }
}
