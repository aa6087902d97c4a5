//! Giving out events.

use ai_hist_model::{
    Author, Change, Event, EventBody, EventId, EventKind, SessionId, Span, Timestamp, ToolOutcome,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    Store, StoreError,
    body::{Pages, Place},
    statements as sql,
};

/// A session's row in this store. Means nothing in another store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionRow(pub i64);

/// A tool call, or the result of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPart {
    /// The event.
    pub seq: u64,
    /// Whether it is the call.
    pub is_call: bool,
}

/// One stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its place in commit order, across sessions.
    pub row: u64,
    /// Its session's row.
    pub session: SessionRow,
    /// Its number in its session, from 0.
    pub seq: u64,
    /// Its id.
    pub id: EventId,
    /// Its kind.
    pub kind: EventKind,
    /// When it happened, if the transcript says so.
    pub at: Option<Timestamp>,
    /// Who did it.
    pub author: Author,
    /// What was done.
    pub body: EventBody,
    /// The feed it was read from and which generation of it.
    pub feed: Option<(i64, i64)>,
    /// The record in that feed.
    pub span: Span,
    /// How it stands to the session that this one comes from.
    pub copied: Copied,
}

/// Whether an event was copied from the session that its own comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// No, or it is not known.
    No,
    /// The transcript says so; that session is not here.
    Stated,
    /// That session has it: here it is neither counted nor indexed.
    Shared,
}

impl Copied {
    const fn from_number(number: i64) -> Self {
        match number {
            0 => Self::No,
            1 => Self::Stated,
            _ => Self::Shared,
        }
    }
}

/// What the index needs to know of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventWords<'a> {
    /// Its place in commit order.
    pub row: u64,
    /// Its session's row.
    pub session: SessionRow,
    /// Its kind.
    pub kind: EventKind,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// The tool's name of a call, the marker's, or empty.
    pub name: &'a str,
    /// The file that was changed, or empty.
    pub path: &'a str,
    /// The words.
    pub text: &'a str,
    /// Whether the session that this one comes from has it too.
    pub copied: Copied,
}

impl StoredEvent {
    /// The event as `session` has it.
    #[must_use]
    pub fn into_event(self, session: SessionId) -> Event {
        let Self { id, at, author, body, span, copied, .. } = self;
        let inherited = copied != Copied::No;
        Event { id, session, at, author, body, span, inherited }
    }
}

impl Store {
    /// Events of a session with `from <= seq < to`: at most `limit`, in order.
    pub fn events_up(
        &self,
        session: SessionRow,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.read(sql::SELECT_EVENTS_UP, params![session.0, number(from), number(to), limit])
    }

    /// Events of a session with `from <= seq < to`: at most `limit`, the last first.
    pub fn events_down(
        &self,
        session: SessionRow,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.read(sql::SELECT_EVENTS_DOWN, params![session.0, number(from), number(to), limit])
    }

    /// Events of one kind with `from <= seq`, in order.
    pub fn events_of_kind(
        &self,
        session: SessionRow,
        kind: EventKind,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let parameters = params![session.0, kind as i64, number(from), limit];
        self.read(sql::SELECT_EVENTS_OF_KIND, parameters)
    }

    /// The first event of one kind before `to`.
    pub fn first_of_kind(
        &self,
        session: SessionRow,
        kind: EventKind,
        to: u64,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let parameters = params![session.0, kind as i64, number(to)];
        Ok(self.read(sql::SELECT_EVENT_FIRST_OF_KIND, parameters)?.pop())
    }

    /// The last event of one kind before `to`.
    pub fn last_of_kind(
        &self,
        session: SessionRow,
        kind: EventKind,
        to: u64,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let parameters = params![session.0, kind as i64, number(to)];
        Ok(self.read(sql::SELECT_EVENT_LAST_OF_KIND, parameters)?.pop())
    }

    /// Where the calls and results with one call id stand before `to`, in order.
    pub fn seqs_of_call(
        &self,
        session: SessionRow,
        call: &str,
        to: u64,
    ) -> Result<Vec<CallPart>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_SEQS_OF_CALL)?;
        let rows = select.query_map(params![session.0, call, number(to)], |row| {
            let is_call = row.get::<_, i64>(1)? == EventKind::ToolCall as i64;
            Ok(CallPart { seq: row.get::<_, i64>(0)?.unsigned_abs(), is_call })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many events of one kind there are before `to`.
    pub fn count_of_kind(
        &self,
        session: SessionRow,
        kind: EventKind,
        to: u64,
    ) -> Result<u64, StoreError> {
        let parameters = params![session.0, kind as i64, number(to)];
        self.count(sql::COUNT_EVENTS_OF_KIND, parameters)
    }

    /// How many tool results before `to` go with a call before `to`: of each call id, the i-th
    /// result goes with the i-th call.
    pub fn count_pairs(&self, session: SessionRow, to: u64) -> Result<u64, StoreError> {
        self.count(sql::COUNT_PAIRS, params![session.0, number(to)])
    }

    /// The files that a session changed, the last changed first.
    pub fn files_touched(
        &self,
        session: SessionRow,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::SELECT_PATHS)?;
        let paths = select.query_map(params![session.0, limit], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }

    /// Events in commit order: at most `limit` after `row`, of all sessions.
    pub fn events_after(&self, row: u64, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.read(sql::SELECT_EVENTS_AFTER_ROW, params![number(row), limit])
    }

    /// Gives the words of at most `limit` events after `row` in commit order to `take`. Gives the
    /// last row that it gave; `None` if there was none.
    pub fn words_after(
        &self,
        row: u64,
        limit: usize,
        take: &mut dyn FnMut(&EventWords<'_>),
    ) -> Result<Option<u64>, StoreError> {
        let db = self.connection()?;
        let mut pages = Pages::default();
        let mut select = db.prepare_cached(sql::SELECT_WORDS_AFTER_ROW)?;
        let mut rows = select.query(params![number(row), limit])?;
        let mut last = None;
        while let Some(row) = rows.next()? {
            last = Some(visit(&db, &mut pages, row, take)?);
        }
        Ok(last)
    }

    /// Gives the words of a session's events from number `from` on to `take`, at most `limit`.
    /// Gives how many these were.
    pub fn words_of_session(
        &self,
        session: SessionRow,
        from: u64,
        limit: usize,
        take: &mut dyn FnMut(&EventWords<'_>),
    ) -> Result<usize, StoreError> {
        let db = self.connection()?;
        let mut pages = Pages::default();
        let mut select = db.prepare_cached(sql::SELECT_WORDS_OF_SESSION)?;
        let mut rows = select.query(params![session.0, number(from), limit])?;
        let mut n_events = 0;
        while let Some(row) = rows.next()? {
            visit(&db, &mut pages, row, take)?;
            n_events += 1;
        }
        Ok(n_events)
    }

    /// Events by row; rows that are not there are left out.
    pub fn events_by_row(&self, rows: &[u64]) -> Result<Vec<StoredEvent>, StoreError> {
        let db = self.connection()?;
        let mut pages = Pages::default();
        let mut select = db.prepare_cached(sql::SELECT_EVENT_BY_ROW)?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let mut found = select.query([number(*row)])?;
            if let Some(row) = found.next()? {
                events.push(read(&db, &mut pages, row)?);
            }
        }
        Ok(events)
    }

    /// The last row in commit order; 0 if there is none.
    pub fn last_row(&self) -> Result<u64, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::whole::SELECT_LAST_ROW)?;
        let row: Option<i64> = select.query_row([], |row| row.get(0)).optional()?;
        Ok(row.unwrap_or(0).unsigned_abs())
    }

    fn read(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let db = self.connection()?;
        let mut pages = Pages::default();
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query(parameters)?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push(read(&db, &mut pages, row)?);
        }
        Ok(events)
    }

    fn count(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<u64, StoreError> {
        let db = self.connection()?;
        let n: i64 = db.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?;
        Ok(n.unsigned_abs())
    }
}

/// A number for SQLite. Ours never reach the sign bit.
fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(crate) const fn outcome_number(outcome: ToolOutcome) -> i64 {
    match outcome {
        ToolOutcome::Unstated => 0,
        ToolOutcome::Success => 1,
        ToolOutcome::Failure => 2,
    }
}

pub(crate) const fn change_number(change: Change) -> i64 {
    match change {
        Change::Create => 1,
        Change::Update => 2,
        Change::Delete => 3,
        Change::Move => 4,
    }
}

fn read(db: &Connection, pages: &mut Pages, row: &Row<'_>) -> Result<StoredEvent, StoreError> {
    let number: i64 = row.get("kind")?;
    let kind = EventKind::from_number(number)
        .ok_or_else(|| StoreError::Damaged { what: format!("{number} is no kind of event") })?;
    let feed: Option<i64> = row.get("feed")?;
    let from = match feed {
        Some(feed) => Some((feed, row.get("generation")?)),
        None => None,
    };
    let place = Place::of(row.get("body")?, row.get("body_start")?, row.get("body_bytes")?);
    let text = pages.text(db, place, from)?.into_owned();
    let author = match row.get("author")? {
        1_i64 => Author::Person,
        2 => Author::Model { name: row.get("model")? },
        3 => Author::Tool,
        4 => Author::Agent,
        _ => Author::Harness,
    };
    let span = Span {
        first_byte: row.get::<_, i64>("first_byte")?.unsigned_abs(),
        n_bytes: row.get::<_, i64>("n_bytes")?.unsigned_abs(),
    };
    let session = SessionRow(row.get("session")?);
    Ok(StoredEvent {
        row: row.get::<_, i64>("row")?.unsigned_abs(),
        session,
        seq: row.get::<_, i64>("seq")?.unsigned_abs(),
        id: EventId::from_bytes(row.get("id")?),
        kind,
        at: row.get::<_, Option<i64>>("at_ms")?.map(Timestamp),
        author,
        body: body(kind, row, text)?,
        span,
        feed: from,
        copied: Copied::from_number(row.get("copied")?),
    })
}

fn visit(
    db: &Connection,
    pages: &mut Pages,
    row: &Row<'_>,
    take: &mut dyn FnMut(&EventWords<'_>),
) -> Result<u64, StoreError> {
    let number: i64 = row.get(2)?;
    let kind = EventKind::from_number(number)
        .ok_or_else(|| StoreError::Damaged { what: format!("{number} is no kind of event") })?;
    let place = Place::of(row.get(6)?, row.get(7)?, row.get(8)?);
    let from = row.get::<_, Option<i64>>(10)?.zip(Some(row.get(11)?));
    let text = pages.text(db, place, from)?;
    let commit_row = row.get::<_, i64>(0)?.unsigned_abs();
    take(&EventWords {
        row: commit_row,
        session: SessionRow(row.get(1)?),
        kind,
        at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
        name: row.get_ref(4)?.as_str_or_null().unwrap_or_default().unwrap_or_default(),
        path: row.get_ref(5)?.as_str_or_null().unwrap_or_default().unwrap_or_default(),
        text: &text,
        copied: Copied::from_number(row.get(9)?),
    });
    Ok(commit_row)
}

fn body(kind: EventKind, row: &Row<'_>, text: String) -> Result<EventBody, StoreError> {
    let word = |column: &str| -> Result<String, rusqlite::Error> {
        Ok(row.get::<_, Option<String>>(column)?.unwrap_or_default())
    };
    let detail: i64 = row.get::<_, Option<i64>>("detail")?.unwrap_or(0);
    Ok(match kind {
        EventKind::Prompt | EventKind::Message | EventKind::Task | EventKind::Context => {
            EventBody::Message { text }
        }
        EventKind::Reasoning => EventBody::Reasoning { text },
        EventKind::ToolCall => {
            EventBody::ToolCall { call: word("call")?, tool: word("name")?, input: text }
        }
        EventKind::ToolResult => EventBody::ToolResult {
            call: word("call")?,
            outcome: match detail {
                1 => ToolOutcome::Success,
                2 => ToolOutcome::Failure,
                _ => ToolOutcome::Unstated,
            },
            output: text,
        },
        EventKind::FileEdit => EventBody::FileEdit {
            call: row.get("call")?,
            path: word("path")?,
            change: match detail {
                1 => Change::Create,
                3 => Change::Delete,
                4 => Change::Move,
                _ => Change::Update,
            },
            diff: text,
        },
        EventKind::Plan => EventBody::Plan { text },
        EventKind::Compaction => EventBody::Compaction { summary: text },
        EventKind::Marker => EventBody::Marker { name: word("name")?, text },
        EventKind::Unknown => EventBody::Unknown { kind: word("name")?, text },
    })
}
