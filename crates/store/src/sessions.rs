//! Giving out what is known about sessions.

use ai_hist_model::{
    AgentId, ConnectorId, Lineage, NativeSessionId, Relation, SessionFacts, SessionId, SessionKey,
    Timestamp, Title, TitleOrigin,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{SessionRow, Store, StoreError, statements as sql};

/// Whose copy of a session it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(String);

impl Origin {
    /// What an agent on this machine wrote.
    #[must_use]
    pub const fn local() -> Self {
        Self(String::new())
    }

    /// What was fetched from `workspace` through `connector`.
    #[must_use]
    pub fn workspace(connector: &ConnectorId, workspace: &str) -> Self {
        Self(format!("{connector}:{workspace}"))
    }

    /// Whether it is this machine's own.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.0.is_empty()
    }

    /// As text: empty for this machine's own.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A session, as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// Its row.
    pub row: SessionRow,
    /// Whose copy it is.
    pub origin: Origin,
    /// All facts stated so far.
    pub facts: SessionFacts,
    /// When its first event happened, where any says when.
    pub started: Option<Timestamp>,
    /// When its last event happened.
    pub ended: Option<Timestamp>,
    /// How many events it has; the next one gets this number.
    pub n_events: u64,
    /// How many of them are copies that stand in the session it comes from.
    pub n_copied: u64,
    /// How many are prompts, copies not counted.
    pub n_prompts: u64,
    /// The beginning of its first prompt, on one line.
    pub first_prompt: Option<String>,
    /// Of a fetched copy: the revision it stands for.
    pub revision: Option<String>,
}

impl StoredSession {
    /// A title for people: the recorded one, else the beginning of the first prompt.
    #[must_use]
    pub fn display_title(&self) -> &str {
        let title = self.facts.title.as_ref().map(|it| it.text.as_str());
        title.or(self.first_prompt.as_deref()).unwrap_or("(no prompt)")
    }
}

/// Where a list of sessions goes on: after this time and row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPage {
    /// The time of the last session given out.
    pub ended_ms: i64,
    /// Its row.
    pub row: SessionRow,
}

impl SessionPage {
    /// Before the newest session.
    pub const FIRST: Self = Self { ended_ms: i64::MAX, row: SessionRow(i64::MAX) };

    /// After `session`.
    #[must_use]
    pub fn after(session: &StoredSession) -> Self {
        Self { ended_ms: session.ended.map_or(0, |it| it.0), row: session.row }
    }
}

impl Store {
    /// One copy of a session.
    pub fn session(
        &self,
        origin: &Origin,
        key: &SessionKey,
    ) -> Result<Option<StoredSession>, StoreError> {
        let db = self.connection()?;
        let parameters = (origin.as_str(), key.agent.as_str(), key.native.as_str());
        one(&db, sql::SELECT_SESSION, parameters)
    }

    /// The session of a row.
    pub fn session_of_row(&self, row: SessionRow) -> Result<Option<StoredSession>, StoreError> {
        let db = self.connection()?;
        one(&db, sql::SELECT_SESSION_BY_ROW, [row.0])
    }

    /// Sessions, the latest activity first: at most `limit` after `page`. Sessions without any
    /// time of their own come last.
    pub fn sessions(
        &self,
        page: SessionPage,
        limit: usize,
    ) -> Result<Vec<StoredSession>, StoreError> {
        let db = self.connection()?;
        many(&db, sql::SELECT_SESSIONS_BY_TIME, params![page.ended_ms, page.row.0, limit])
    }

    /// Sessions whose id begins with `prefix`.
    pub fn sessions_by_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<StoredSession>, StoreError> {
        let db = self.connection()?;
        // Session ids are ASCII, so this is above every id with the prefix and below the rest.
        let end = format!("{prefix}\u{7f}");
        many(&db, sql::SELECT_SESSIONS_BY_PREFIX, params![prefix, end, limit])
    }

    /// Sessions whose title or first prompt holds `words`.
    pub fn sessions_by_title(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<StoredSession>, StoreError> {
        let db = self.connection()?;
        let escaped = words.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let pattern = format!("%{escaped}%");
        many(&db, sql::whole::SELECT_SESSIONS_BY_TITLE, params![pattern, limit])
    }

    /// The sessions that come from `parent`.
    pub fn children(&self, parent: &SessionKey) -> Result<Vec<StoredSession>, StoreError> {
        let db = self.connection()?;
        let parameters = (parent.agent.as_str(), parent.native.as_str());
        many(&db, sql::SELECT_SESSIONS_BY_PARENT, parameters)
    }
}

/// A session that is in the store.
pub(crate) struct Known {
    pub(crate) row: i64,
    /// How many events it has: the next one's number.
    pub(crate) n_events: i64,
}

pub(crate) fn id_of(
    db: &Connection,
    origin: &Origin,
    session: SessionId,
) -> Result<Option<Known>, StoreError> {
    let mut select = db.prepare_cached(sql::SELECT_SESSION_ID)?;
    let parameters = (origin.as_str(), session.as_bytes());
    let read = |row: &Row<'_>| Ok(Known { row: row.get(0)?, n_events: row.get(1)? });
    Ok(select.query_row(parameters, read).optional()?)
}

pub(crate) fn upsert(
    db: &Connection,
    origin: &Origin,
    facts: &SessionFacts,
) -> Result<i64, StoreError> {
    let lineage = facts.lineage.as_ref();
    let id = facts.key.id();
    let parameters = params![
        origin.as_str(),
        facts.key.agent.as_str(),
        facts.key.native.as_str(),
        facts.title.as_ref().map(|it| &it.text),
        facts.title.as_ref().map_or(0, |it| rank(it.origin)),
        facts.cwd,
        facts.git_branch,
        facts.git_commit,
        facts.git_remote,
        facts.agent_version,
        facts.originator,
        facts.nickname,
        lineage.map(|it| it.parent.agent.as_str()),
        lineage.map(|it| it.parent.native.as_str()),
        lineage.map(|it| match it.relation {
            Relation::SubAgent => 1,
            Relation::Fork => 2,
        }),
        id.as_bytes(),
    ];
    Ok(db.prepare_cached(sql::UPSERT_SESSION)?.query_row(parameters, |row| row.get(0))?)
}

const fn rank(origin: TitleOrigin) -> i64 {
    match origin {
        TitleOrigin::Summary => 1,
        TitleOrigin::Generated => 2,
        TitleOrigin::Person => 3,
    }
}

fn one(
    db: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Option<StoredSession>, StoreError> {
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(parameters)?;
    rows.next()?.map(read).transpose()
}

pub(crate) fn many(
    db: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<StoredSession>, StoreError> {
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query(parameters)?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.push(read(row)?);
    }
    Ok(sessions)
}

fn read(row: &Row<'_>) -> Result<StoredSession, StoreError> {
    let key = key(&row.get::<_, String>("agent")?, &row.get::<_, String>("native")?)?;
    let title: Option<String> = row.get("title")?;
    let origin = match row.get("title_rank")? {
        1_i64 => TitleOrigin::Summary,
        2 => TitleOrigin::Generated,
        _ => TitleOrigin::Person,
    };
    let parent: Option<String> = row.get("parent_agent")?;
    let lineage = match (parent, row.get::<_, Option<String>>("parent_native")?) {
        (Some(agent), Some(native)) => Some(Lineage {
            parent: self::key(&agent, &native)?,
            relation: match row.get::<_, Option<i64>>("relation")? {
                Some(2) => Relation::Fork,
                Some(_) | None => Relation::SubAgent,
            },
        }),
        _ => None,
    };
    let facts = SessionFacts {
        key,
        title: title.map(|text| Title { text, origin }),
        cwd: row.get("cwd")?,
        git_branch: row.get("git_branch")?,
        git_commit: row.get("git_commit")?,
        git_remote: row.get("git_remote")?,
        agent_version: row.get("agent_version")?,
        originator: row.get("originator")?,
        nickname: row.get("nickname")?,
        lineage,
    };
    Ok(StoredSession {
        row: SessionRow(row.get("id")?),
        origin: Origin(row.get("origin")?),
        facts,
        started: row.get::<_, Option<i64>>("started_ms")?.map(Timestamp),
        ended: Some(row.get::<_, i64>("ended_ms")?).filter(|it| *it != 0).map(Timestamp),
        n_events: row.get::<_, i64>("n_events")?.unsigned_abs(),
        n_copied: row.get::<_, i64>("n_copied")?.unsigned_abs(),
        n_prompts: row.get::<_, i64>("n_prompts")?.unsigned_abs(),
        first_prompt: row.get("first_prompt")?,
        revision: row.get("revision")?,
    })
}

fn key(agent: &str, native: &str) -> Result<SessionKey, StoreError> {
    match (AgentId::parse(agent), NativeSessionId::parse(native)) {
        (Some(agent), Some(native)) => Ok(SessionKey { agent, native }),
        _ => Err(StoreError::Damaged { what: format!("`{agent}:{native}` names no session") }),
    }
}
