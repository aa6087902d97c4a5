//! Searching every session.

use ai_hist_handoff::{CONTENT_TRUST, RowStyle, within};
use ai_hist_query::{Answer, Hit, Request, search};
use ai_hist_redact::Redactor;
use serde::Serialize;

use crate::{Engine, EngineError, Freshness, time};

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The query, as written.
    pub query: String,
    /// How many hits, 1 to 50.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    /// The hits, the best first.
    pub hits: Vec<SearchHit>,
    /// How many events match in all.
    pub total: u64,
    /// Goes on from here; `None` on the last page.
    pub next_cursor: Option<String>,
    /// What was searched.
    pub coverage: Coverage,
    /// What to know about this answer.
    pub notes: Vec<String>,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

/// An event that matches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// The agent that held the session.
    pub source: String,
    /// The session.
    pub session_id: String,
    /// The event's number in it.
    pub seq: u64,
    /// The event's kind.
    pub kind: &'static str,
    /// When it happened.
    pub at: Option<String>,
    /// The place that matches.
    pub snippet: String,
    /// How well it matches, compared with others of the same answer.
    pub score: f64,
    /// The session's title.
    pub title: String,
    /// The session's working directory.
    pub project: Option<String>,
    /// The workspace that the session was fetched from; absent for this machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// What was searched, and how far that is behind the transcripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Events stored.
    pub events: u64,
    /// Of these, indexed.
    pub indexed: u64,
    /// Of the others, searched all the same.
    pub tail_scanned: u64,
    /// Of the others, not searched.
    pub left_out: u64,
    /// Transcripts with changes that are not taken in yet.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl SearchAnswer {
    /// The same for an agent: short, and without secrets.
    #[must_use]
    pub fn for_agents(mut self) -> Self {
        let style = RowStyle::for_agents(Redactor::builtin());
        for hit in &mut self.hits {
            let mut was_cut = false;
            hit.snippet = style.words(&hit.snippet, hit.seq, &mut was_cut);
            hit.title = style.name(&hit.title);
            hit.project = hit.project.as_deref().map(|it| style.name(it));
        }
        self
    }
}

impl Engine {
    /// Searches every session. Takes in first what has changed, if that is little.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, EngineError> {
        let limit = within(
            "limit",
            request.limit,
            ai_hist_query::DEFAULT_HITS,
            1..=ai_hist_query::MAX_HITS,
        )?;
        let freshness = self.catch_up()?;
        let request = Request {
            text: &request.query,
            limit: Some(limit),
            cursor: request.cursor.as_deref(),
            now: self.now(),
        };
        let answer = search(self.store()?, self.index()?, &request)?;
        Ok(shown(answer, freshness))
    }
}

fn shown(answer: Answer, freshness: Freshness) -> SearchAnswer {
    let Answer { hits, total, next_cursor, coverage, mut notes } = answer;
    if 0 < freshness.stale_feeds {
        notes.push(format!(
            "{} transcripts have changed and are not read yet: run `ai-hist sync`",
            freshness.stale_feeds
        ));
    }
    SearchAnswer {
        hits: hits.into_iter().map(shown_hit).collect(),
        total,
        next_cursor,
        coverage: Coverage {
            events: coverage.last_row,
            indexed: coverage.indexed_row,
            tail_scanned: coverage.n_tail,
            left_out: coverage.n_left_out,
            freshness,
        },
        notes,
        content_trust: CONTENT_TRUST,
    }
}

fn shown_hit(hit: Hit) -> SearchHit {
    SearchHit {
        source: hit.session.agent.to_string(),
        session_id: hit.session.native.to_string(),
        seq: hit.seq,
        kind: hit.kind.as_str(),
        at: hit.at.and_then(time),
        snippet: hit.snippet.text,
        score: hit.score,
        title: hit.title,
        project: hit.project,
        origin: (!hit.origin.is_local()).then(|| hit.origin.as_str().to_owned()),
    }
}
