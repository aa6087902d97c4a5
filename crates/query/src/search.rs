//! Answering a query from the index and the store.

use std::collections::HashMap;

use ai_hist_index::{Doc, Filters, Index, IndexError, Page, Plan, View};
use ai_hist_model::{EventBody, EventKind, NativeSessionId, SessionKey, Timestamp};
use ai_hist_store::{Copied, Origin, SessionRow, Store, StoredEvent, StoredSession};

use crate::{
    Query, QueryError, Snippet, Terms,
    cursor::Cursor,
    limits::{DEFAULT_HITS, MAX_HITS, MAX_SESSIONS, MAX_TAIL_EVENTS},
    parse, snippet,
    stage::{self, Stage},
};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The query. Empty for the newest events.
    pub text: &'a str,
    /// How many hits.
    pub limit: Option<usize>,
    /// Where the page before ended: its `next_cursor`.
    pub cursor: Option<&'a str>,
    /// The present.
    pub now: Timestamp,
}

/// A page of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The hits, the best first.
    pub hits: Vec<Hit>,
    /// How many events match in all.
    pub total: u64,
    /// Goes on from here; `None` on the last page.
    pub next_cursor: Option<String>,
    /// What was searched.
    pub coverage: Coverage,
    /// What to know about this answer, for a person.
    pub notes: Vec<String>,
}

/// An event that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its row in the store.
    pub row: u64,
    /// Its session.
    pub session: SessionKey,
    /// Its session's row in the store.
    pub session_row: SessionRow,
    /// Whose copy of the session it is.
    pub origin: Origin,
    /// Its number in its session.
    pub seq: u64,
    /// Its kind.
    pub kind: EventKind,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// The place that matches.
    pub snippet: Snippet,
    /// How well it matches, compared with others of the same answer.
    pub score: f64,
    /// Its session's title.
    pub title: String,
    /// Its session's working directory.
    pub project: Option<String>,
}

/// What was searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The last event of the store, by row.
    pub last_row: u64,
    /// The last one that is indexed.
    pub indexed_row: u64,
    /// How many events were searched that are not indexed yet.
    pub n_tail: u64,
    /// How many were not searched at all.
    pub n_left_out: u64,
    /// Why the index cannot be used, if it cannot.
    pub problem: Option<String>,
}

impl Coverage {
    /// Whether every event of the store was searched.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.n_left_out == 0
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let n = self.n_left_out;
        let left_out =
            (0 < n).then(|| format!("{n} events are not indexed yet and were not searched"));
        self.problem.clone().into_iter().chain(left_out)
    }
}

/// Answers `request`.
///
/// Promises to search every event of the store that the index has or that is among the newest of
/// those it has not; [`Answer::coverage`] says what that leaves out.
pub fn search(store: &Store, index: &Index, request: &Request<'_>) -> Result<Answer, QueryError> {
    match answer(store, index, request) {
        // From now on it counts as empty, and the answer says so.
        Err(QueryError::Index(IndexError::Damaged { .. })) => answer(store, index, request),
        answered => answered,
    }
}

fn answer(store: &Store, index: &Index, request: &Request<'_>) -> Result<Answer, QueryError> {
    let query = parse(request.text);
    let given = request.cursor.map(|it| Cursor::parse(it, request.text)).transpose()?;
    let mut sessions = Sessions { store, known: HashMap::new() };
    let (view, coverage) = whole_view(store, index, &mut sessions)?;
    let mut notes: Vec<String> = query.problems.iter().map(|it| it.what.clone()).collect();
    notes.extend(coverage.notes());
    if query.is_wordless {
        notes.push("there is no word in the query".to_owned());
        return Ok(Answer { hits: Vec::new(), total: 0, next_cursor: None, coverage, notes });
    }
    let mut plan = plan(store, &query, &mut notes)?;
    plan.filters.last_row = Some(given.map_or(coverage.last_row, |it| it.last_row));
    plan.now = Some(given.map_or(request.now, |it| it.now));
    let stage = match given {
        Some(given) => given.stage,
        None => Stage::find(&view, &plan)?,
    };
    let staged = stage.plan(&plan);
    let limit = request.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
    let offset = given.map_or(0, |it| usize::try_from(it.offset).unwrap_or(usize::MAX));
    let found = view.search(&staged, Page { limit, offset })?;
    if found.total == 0 {
        notes.extend(emptiness(&view, &plan)?);
    }
    notes.extend(stage.note(&plan));
    let next = Cursor {
        offset: offset.saturating_add(found.hits.len()) as u64,
        last_row: plan.filters.last_row.unwrap_or(0),
        now: plan.now.unwrap_or(request.now),
        stage,
    };
    let goes_on = !found.hits.is_empty()
        && next.offset < found.total
        && next.offset < ai_hist_index::limits::MAX_DEPTH as u64;
    Ok(Answer {
        hits: hits(&found.hits, &Terms::of(&staged.clauses), &mut sessions)?,
        total: found.total,
        next_cursor: goes_on.then(|| next.to_text(request.text)),
        coverage,
        notes,
    })
}

/// The index together with what it has not taken in yet.
fn whole_view(
    store: &Store,
    index: &Index,
    sessions: &mut Sessions<'_>,
) -> Result<(View, Coverage), QueryError> {
    let view = index.view();
    let last_row = store.last_row()?;
    let indexed_row = view.watermark();
    // The newest: they are what somebody may miss.
    let from = indexed_row.max(last_row.saturating_sub(MAX_TAIL_EVENTS as u64));
    let tail =
        if from < last_row { store.events_after(from, MAX_TAIL_EVENTS)? } else { Vec::new() };
    for event in &tail {
        sessions.learn(event.session)?;
    }
    let docs: Vec<Doc<'_>> = tail.iter().filter_map(|it| sessions.doc(it)).collect();
    let coverage = Coverage {
        last_row,
        indexed_row,
        n_tail: docs.len() as u64,
        n_left_out: from.saturating_sub(indexed_row),
        problem: view.problem().map(str::to_owned),
    };
    Ok((view.with_tail(&docs)?, coverage))
}

fn plan(store: &Store, query: &Query, notes: &mut Vec<String>) -> Result<Plan, QueryError> {
    let wanted = &query.wanted;
    let mut filters = Filters {
        kinds: wanted.kinds.clone().unwrap_or_default(),
        agents: wanted.sources.clone(),
        sessions: None,
        projects: wanted.projects.clone(),
        paths: wanted.paths.clone(),
        tools: wanted.tools.clone(),
        since: wanted.after,
        until: wanted.before,
        last_row: None,
    };
    if wanted.kinds.as_ref().is_some_and(Vec::is_empty) {
        filters.sessions = Some(Vec::new());
    }
    for beginning in &wanted.sessions {
        let rows = session_rows(store, beginning)?;
        if rows.is_empty() {
            notes.push(format!("no session's id begins with `{beginning}`"));
        }
        filters.sessions.get_or_insert_default().extend(rows);
    }
    let (clauses, excluded) = (query.words.clone(), query.excluded.clone());
    Ok(Plan { clauses, excluded, filters, ..Plan::default() })
}

/// The rows of sessions whose id begins with `beginning`, which may name the agent.
fn session_rows(store: &Store, beginning: &str) -> Result<Vec<u64>, QueryError> {
    let (agent, native) = match beginning.split_once(':') {
        Some((agent, native)) => (Some(agent), native),
        None => (None, beginning),
    };
    if NativeSessionId::parse(native).is_none() {
        return Ok(Vec::new());
    }
    let sessions = store.sessions_by_prefix(native, MAX_SESSIONS)?;
    let is_of =
        |it: &&StoredSession| agent.is_none_or(|agent| it.facts.key.agent.as_str() == agent);
    Ok(sessions.iter().filter(is_of).map(|it| it.row.0.unsigned_abs()).collect())
}

/// Says what keeps everything out, if it is the filters.
fn emptiness(view: &View, plan: &Plan) -> Result<Option<String>, QueryError> {
    let last_row = plan.filters.last_row;
    let open = Filters { last_row, ..Filters::default() };
    if plan.filters == open {
        return Ok(None);
    }
    let filters = plan.filters.clone();
    if stage::count(view, &Plan { filters, ..Plan::default() })? == 0 {
        return Ok(Some("no event passes the filters".to_owned()));
    }
    let n = stage::count(view, &Plan { filters: open, ..plan.clone() })?;
    Ok((0 < n).then(|| format!("{n} events match and do not pass the filters")))
}

fn hits(
    found: &[ai_hist_index::Hit],
    terms: &Terms,
    sessions: &mut Sessions<'_>,
) -> Result<Vec<Hit>, QueryError> {
    let rows: Vec<u64> = found.iter().map(|it| it.row).collect();
    let mut scores: HashMap<u64, f64> = found.iter().map(|it| (it.row, it.score)).collect();
    let mut hits = Vec::with_capacity(rows.len());
    for event in sessions.store.events_by_row(&rows)? {
        // It has turned out to be a copy since it was indexed.
        if event.copied == Copied::Shared {
            continue;
        }
        sessions.learn(event.session)?;
        let Some(session) = sessions.get(event.session) else { continue };
        hits.push(Hit {
            row: event.row,
            session: session.facts.key.clone(),
            session_row: event.session,
            origin: session.origin.clone(),
            seq: event.seq,
            kind: event.kind,
            at: event.at,
            snippet: snippet_of(&event.body, terms),
            score: scores.remove(&event.row).unwrap_or(0.0),
            title: session.display_title().to_owned(),
            project: session.facts.cwd.clone(),
        });
    }
    Ok(hits)
}

/// The place that matches: in the words, or else in the name of the tool or the file.
fn snippet_of(body: &EventBody, terms: &Terms) -> Snippet {
    let of_text = snippet(body.text(), terms);
    if !of_text.marks.is_empty() {
        return of_text;
    }
    match body {
        EventBody::ToolCall { tool: name, .. } | EventBody::FileEdit { path: name, .. } => {
            snippet(&format!("{name} {}", body.text()), terms)
        }
        EventBody::Message { .. }
        | EventBody::Reasoning { .. }
        | EventBody::ToolResult { .. }
        | EventBody::Plan { .. }
        | EventBody::Compaction { .. }
        | EventBody::Marker { .. }
        | EventBody::Unknown { .. } => of_text,
    }
}

/// Sessions, each looked up once.
struct Sessions<'a> {
    store: &'a Store,
    known: HashMap<SessionRow, Option<StoredSession>>,
}

impl Sessions<'_> {
    fn learn(&mut self, row: SessionRow) -> Result<(), QueryError> {
        if !self.known.contains_key(&row) {
            self.known.insert(row, self.store.session_of_row(row)?);
        }
        Ok(())
    }

    fn get(&self, row: SessionRow) -> Option<&StoredSession> {
        self.known.get(&row)?.as_ref()
    }

    /// Nothing for a copy: it is found where it was copied from.
    fn doc<'e>(&'e self, event: &'e StoredEvent) -> Option<Doc<'e>> {
        if event.copied == Copied::Shared {
            return None;
        }
        let session = self.get(event.session)?;
        let doc = Doc {
            row: event.row,
            session: event.session.0.unsigned_abs(),
            kind: event.kind,
            agent: session.facts.key.agent.as_str(),
            project: session.facts.cwd.as_deref().unwrap_or_default(),
            at: event.at,
            tool: "",
            path: "",
            text: "",
        };
        Some(doc.with_body(&event.body))
    }
}
