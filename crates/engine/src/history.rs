//! Sessions and their events.

use ai_hist_handoff::{CONTENT_TRUST, HandoffError, RowStyle, slice, summarize, within};
use ai_hist_model::{EventKind, Relation};
use ai_hist_redact::Redactor;
use ai_hist_store::{SessionPage, StoredSession};
use serde::Serialize;

use crate::{
    Engine, EngineError, Row, SessionSummary,
    limits::{
        DEFAULT_EVENTS, DEFAULT_SESSIONS, MAX_EVENTS, MAX_LAST_EVENTS, MAX_READ_EVENTS,
        MAX_SESSIONS, MAX_SESSIONS_LOOKED_AT,
    },
    time,
};

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Of this agent.
    pub source: Option<String>,
    /// Whose working directory holds these letters.
    pub project: Option<String>,
    /// Whether sub-agents' sessions are listed too.
    pub sub_agents: SubAgents,
    /// How many, 1 to 200.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// Whether sub-agents' sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SubAgents {
    /// Only sessions of their own.
    #[default]
    Hidden,
    /// All sessions.
    Listed,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    /// The agent that held it.
    pub source: String,
    /// Its id.
    pub session_id: String,
    /// Its title: recorded, else the beginning of its first prompt.
    pub title: String,
    /// Its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When its first event happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_activity: Option<String>,
    /// When its last event happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// How many events it has.
    pub n_events: u64,
    /// How many of them are prompts, those not counted that a fork has from its parent.
    pub n_prompts: u64,
    /// How many events a fork has from its parent.
    #[serde(skip_serializing_if = "is_zero")]
    pub n_copied: u64,
    /// The session that it comes from: `source:session_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The workspace that it was fetched from; absent for this machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionList {
    /// The sessions, the latest activity first.
    pub sessions: Vec<SessionRow>,
    /// Goes on from here; `None` on the last page.
    pub next_cursor: Option<String>,
}

impl SessionRow {
    /// Makes it fit for an agent: title and paths short and without secrets.
    pub(crate) fn clean(&mut self, style: RowStyle<'_>) {
        self.title = style.name(&self.title);
        self.project = self.project.as_deref().map(|it| style.name(it));
        self.branch = self.branch.as_deref().map(|it| style.name(it));
    }
}

impl SessionList {
    /// The same for an agent: titles and paths short and without secrets.
    #[must_use]
    pub fn for_agents(mut self) -> Self {
        let style = RowStyle::for_agents(Redactor::builtin());
        for session in &mut self.sessions {
            session.clean(style);
        }
        self
    }
}

/// A session, in overview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionView {
    /// The agent that held it.
    pub source: String,
    /// Its id.
    pub session_id: String,
    /// What is known about it.
    pub session: SessionSummary,
    /// The workspace that it was fetched from; absent for this machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The sessions that come from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<SessionRow>,
    /// Its last events.
    pub last_events: Vec<Row>,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

/// Which events of a session.
#[derive(Debug, Clone, Default)]
pub struct EventRequest {
    /// Of which kinds; empty for all.
    pub filter: EventFilter,
    /// From this number on.
    pub from: Option<u64>,
    /// How many, 1 to 1,000.
    pub limit: Option<usize>,
}

/// Which kinds of events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// These; empty for all.
    pub kinds: Vec<EventKind>,
}

impl EventFilter {
    /// The kinds of these words.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, EngineError> {
        let mut kinds = Vec::new();
        for word in words {
            let Some(kind) = EventKind::parse(word) else {
                let known: Vec<&str> = EventKind::ALL.iter().map(|it| it.as_str()).collect();
                let problem = format!("`{word}` is none of: {}", known.join(", "));
                return Err(EngineError::InvalidArgument { argument: "kinds", problem });
            };
            kinds.push(kind);
        }
        Ok(Self { kinds })
    }

    fn admits(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Events of a session, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventPage {
    /// The agent that held it.
    pub source: String,
    /// Its id.
    pub session_id: String,
    /// The events.
    pub events: Vec<Row>,
    /// The number to go on from; `None` at the end.
    pub next: Option<u64>,
    /// How many events the session has.
    pub n_events: u64,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

/// A stretch of one event's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventText {
    /// The agent that held the session.
    pub source: String,
    /// The session.
    pub session_id: String,
    /// The event.
    pub event: u64,
    /// Where the stretch begins in the text, in bytes.
    pub offset: usize,
    /// The stretch.
    pub text: String,
    /// Where the next one begins; `None` at the end.
    pub next_offset: Option<usize>,
    /// How long the whole text is, in bytes.
    pub n_bytes: usize,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

impl Engine {
    /// Sessions, the latest activity first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<SessionList, EngineError> {
        self.catch_up()?;
        let store = self.store()?;
        let limit = within("limit", filter.limit, DEFAULT_SESSIONS, 1..=MAX_SESSIONS)?;
        let mut page = match &filter.cursor {
            Some(token) => parse_page(token)?,
            None => SessionPage::FIRST,
        };
        let mut list = SessionList { sessions: Vec::new(), next_cursor: None };
        let mut n_seen = 0;
        loop {
            let found = store.sessions(page, MAX_SESSIONS)?;
            let is_end = found.len() < MAX_SESSIONS;
            for session in found {
                n_seen += 1;
                if filter.admits(&session) {
                    if list.sessions.len() == limit {
                        list.next_cursor = Some(page_token(page));
                        return Ok(list);
                    }
                    list.sessions.push(session_row(&session));
                }
                page = SessionPage::after(&session);
            }
            if is_end {
                return Ok(list);
            }
            if MAX_SESSIONS_LOOKED_AT < n_seen {
                list.next_cursor = Some(page_token(page));
                return Ok(list);
            }
        }
    }

    /// A session, in overview, after reading it to its present end. `style` says for whom.
    pub fn session(
        &self,
        reference: &str,
        style: RowStyle<'_>,
    ) -> Result<SessionView, EngineError> {
        let session = self.current(reference)?;
        let store = self.store()?;
        let key = &session.facts.key;
        let last = store.events_down(session.row, 0, session.n_events, MAX_LAST_EVENTS)?;
        let children = store.children(key)?;
        Ok(SessionView {
            source: key.agent.to_string(),
            session_id: key.native.to_string(),
            session: summarize(store, &session, session.n_events, style)?,
            origin: origin(&session),
            children: children.iter().take(MAX_SESSIONS).map(session_row).collect(),
            last_events: last.iter().rev().map(|it| style.row(it, None)).collect(),
            content_trust: CONTENT_TRUST,
        })
    }

    /// Events of a session, in order.
    pub fn events(
        &self,
        session: &StoredSession,
        request: &EventRequest,
        style: RowStyle<'_>,
    ) -> Result<EventPage, EngineError> {
        let store = self.store()?;
        let limit = within("limit", request.limit, DEFAULT_EVENTS, 1..=MAX_EVENTS)?;
        let mut page = EventPage {
            source: session.facts.key.agent.to_string(),
            session_id: session.facts.key.native.to_string(),
            events: Vec::new(),
            next: None,
            n_events: session.n_events,
            content_trust: CONTENT_TRUST,
        };
        let mut from = request.from.unwrap_or(0);
        loop {
            let found = store.events_up(session.row, from, session.n_events, MAX_READ_EVENTS)?;
            if found.is_empty() {
                return Ok(page);
            }
            for event in found {
                if request.filter.admits(event.kind) {
                    if page.events.len() == limit {
                        page.next = Some(event.seq);
                        return Ok(page);
                    }
                    page.events.push(style.row(&event, None));
                }
                from = event.seq + 1;
            }
        }
    }

    /// A stretch of one event's text, for an agent.
    pub fn event_text(
        &self,
        session: &StoredSession,
        event: u64,
        offset: usize,
        max_bytes: usize,
    ) -> Result<EventText, EngineError> {
        let mut found = self.store()?.events_up(session.row, event, event + 1, 1)?;
        let Some(found) = found.pop() else {
            let problem = format!("is {event}, and the session has {} events", session.n_events);
            return Err(EngineError::InvalidArgument { argument: "event", problem });
        };
        let text = found.body.text();
        let (shown, next_offset) = slice(Redactor::builtin(), text, offset, max_bytes);
        Ok(EventText {
            source: session.facts.key.agent.to_string(),
            session_id: session.facts.key.native.to_string(),
            event,
            offset,
            text: shown,
            next_offset,
            n_bytes: text.len(),
            content_trust: CONTENT_TRUST,
        })
    }

    /// The session that `reference` means, read to its present end.
    pub fn current(&self, reference: &str) -> Result<StoredSession, EngineError> {
        let found = match self.resolve(reference) {
            Ok(session) => session,
            Err(error) => {
                // It may be one that was never read.
                self.catch_up()?;
                self.resolve(reference).map_err(|_| error)?
            }
        };
        if found.origin.is_local() { self.up_to_date(&found.facts.key) } else { Ok(found) }
    }
}

impl SessionFilter {
    fn admits(&self, session: &StoredSession) -> bool {
        let facts = &session.facts;
        let cwd = facts.cwd.as_deref().unwrap_or_default().to_lowercase();
        let is_sub_agent =
            facts.lineage.as_ref().is_some_and(|it| it.relation == Relation::SubAgent);
        let project = self.project.as_deref().map(str::to_lowercase);
        self.source.as_deref().is_none_or(|it| facts.key.agent.as_str() == it)
            && project.is_none_or(|it| cwd.contains(&it))
            && (self.sub_agents == SubAgents::Listed || !is_sub_agent)
    }
}

pub(crate) fn session_row(session: &StoredSession) -> SessionRow {
    let facts = &session.facts;
    SessionRow {
        source: facts.key.agent.to_string(),
        session_id: facts.key.native.to_string(),
        title: session.display_title().to_owned(),
        project: facts.cwd.clone(),
        branch: facts.git_branch.clone(),
        first_activity: session.started.and_then(time),
        last_activity: session.ended.and_then(time),
        n_events: session.n_events,
        n_prompts: session.n_prompts,
        n_copied: session.n_copied,
        parent: facts.lineage.as_ref().map(|it| it.parent.to_string()),
        origin: origin(session),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn origin(session: &StoredSession) -> Option<String> {
    (!session.origin.is_local()).then(|| session.origin.as_str().to_owned())
}

/// Where a list goes on. It opens nothing, so it is not sealed.
fn page_token(page: SessionPage) -> String {
    format!("s1.{}.{}", page.ended_ms, page.row.0)
}

fn parse_page(token: &str) -> Result<SessionPage, EngineError> {
    let parse = || {
        let (ended_ms, row) = token.strip_prefix("s1.")?.split_once('.')?;
        let row = ai_hist_store::SessionRow(row.parse().ok()?);
        Some(SessionPage { ended_ms: ended_ms.parse().ok()?, row })
    };
    let problem = "was not made by a list of sessions";
    parse().ok_or_else(|| HandoffError::InvalidCursor { problem }.into())
}
