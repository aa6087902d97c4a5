//! What is looked for.

use ai_hist_model::{EventKind, Timestamp};

use crate::{
    limits::MAX_CLAUSE_TERMS,
    words::{Place, Role, Words},
};

/// What is looked for. Without clauses it is every event that passes the filters, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What has to occur.
    pub clauses: Vec<Clause>,
    /// How much of it.
    pub demand: Demand,
    /// What must not occur.
    pub excluded: Vec<Clause>,
    /// Which events count.
    pub filters: Filters,
    /// The present, from which an event's age is told. Without it no event is preferred for its age.
    pub now: Option<Timestamp>,
}

/// How many of the clauses an event has to satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Demand {
    /// Every one.
    #[default]
    All,
    /// At least one; the more the better.
    Any,
}

/// A word, or words that stand one after the other: `login`, `error-401`, `connection refused`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Clause {
    /// As written. What is no word in it says nothing.
    pub text: String,
    /// How near a text has to come to it.
    pub closeness: Closeness,
}

impl Clause {
    /// `text` as it is.
    #[must_use]
    pub fn exact(text: impl Into<String>) -> Self {
        Self { text: text.into(), closeness: Closeness::Exact }
    }

    /// The terms that a text has to have for this clause: each at its distance from the others.
    /// None if there is no word in it.
    #[must_use]
    pub fn terms(&self) -> Vec<ClauseTerm> {
        let mut terms = Vec::new();
        let mut words = Words::new(&self.text);
        let mut text = String::new();
        while let Some(Place { position, n_positions, role, .. }) = words.next(&mut text) {
            let is_wanted = match (role, self.closeness) {
                (Role::Part, closeness) => closeness == Closeness::Apart,
                (Role::Whole, Closeness::Apart) => n_positions == 1,
                (Role::Whole | Role::Glyph, _) => true,
            };
            if is_wanted && terms.len() < MAX_CLAUSE_TERMS {
                let is_glyph = role == Role::Glyph;
                terms.push(ClauseTerm { position, text: text.clone(), is_glyph });
            }
        }
        terms
    }
}

/// A term of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClauseTerm {
    /// Its place, counted in words.
    pub position: usize,
    /// It.
    pub text: String,
    /// Whether it is an ideograph by itself, which stands for every term that begins with it.
    pub is_glyph: bool,
}

/// How near a text has to come to a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Closeness {
    /// The same words: `MAX_SIZE` is `max_size`.
    #[default]
    Exact,
    /// The same words also when they are written apart: `MAX_SIZE` is `maxSize` and `max size`.
    Apart,
    /// The last word may go on: `hand` is `handoff`.
    Prefix,
    /// Some letters may differ: `handof` is `handoff`.
    Fuzzy,
}

/// Which events count. An empty list excludes nothing, of two entries one has to hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filters {
    /// Their kind.
    pub kinds: Vec<EventKind>,
    /// Who held the session.
    pub agents: Vec<String>,
    /// Their sessions' rows. `Some` of none excludes everything.
    pub sessions: Option<Vec<u64>>,
    /// Words of the session's working directory, one after the other; the last may go on.
    pub projects: Vec<String>,
    /// Words of the changed file's path, likewise.
    pub paths: Vec<String>,
    /// Words of the called tool's name.
    pub tools: Vec<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before. With either of the two an event without a time is left out.
    pub until: Option<Timestamp>,
    /// Up to this row, so that a later page does not see what came after the first.
    pub last_row: Option<u64>,
}
