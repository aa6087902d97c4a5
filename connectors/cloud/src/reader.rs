//! One session in a workspace, read as a feed.

use std::sync::Arc;

use ai_hist_connector::{
    Budget, ConnectorError, FeedReader, Start,
    model::{
        Batch, Cursor, Event, EventBody, SessionFacts, SessionId, SessionKey, Skipped, Span, Tally,
    },
};

use crate::{
    backend::{Backend, Held},
    hash::Hash,
    lines::Lines,
    page::{self, Place},
    wire,
};

/// Reads the session as it stood when the reader was opened. What is pushed meanwhile is for the
/// next pass.
#[derive(Debug)]
pub(crate) struct Reader {
    backend: Arc<dyn Backend>,
    session: SessionKey,
    id: SessionId,
    held: Held,
    facts: SessionFacts,
    facts_hash: String,
    start: Start,
    /// The number of the next event.
    next: u64,
    /// The page that was read last, and what is to be read of it.
    open: Option<Open>,
    /// The place after the page that was read last.
    place: Place,
    owes_facts: bool,
}

/// A page that is being read.
#[derive(Debug)]
struct Open {
    /// Where it begins among all lines.
    first_byte: u64,
    lines: Lines,
    /// The next line.
    at: usize,
}

impl Reader {
    pub(crate) fn open(
        backend: Arc<dyn Backend>,
        session: SessionKey,
        cursor: Option<&Cursor>,
    ) -> Result<Self, ConnectorError> {
        let held = backend.held(&session)?.ok_or_else(|| absent(&session))?;
        let facts = wire::read_facts(session.clone(), &held.facts).map_err(|error| {
            ConnectorError::Damaged {
                what: format!("the facts of `{session}` are no facts: {error}"),
            }
        })?;
        let seed = Hash::seed(&backend.membership().workspace, &session);
        let mut reader = Self {
            id: session.id(),
            facts_hash: Hash::of(&[held.facts.as_bytes()]).to_string(),
            start: Start::Restarted,
            next: 0,
            open: None,
            place: Place { seq: 0, byte: 0, chain: seed },
            owes_facts: true,
            backend,
            session,
            held,
            facts,
        };
        if let Some(words) = cursor.and_then(|it| Words::parse(it.as_str())) {
            reader.go_on(&words)?;
        }
        Ok(reader)
    }

    /// Goes on where `words` say, if the session still says the same up to there.
    fn go_on(&mut self, words: &Words<'_>) -> Result<(), ConnectorError> {
        if words.generation != self.held.generation || self.held.n_events < words.next {
            return Ok(());
        }
        if let Some(last) = words.next.checked_sub(1) {
            let page = self.backend.page(&self.session, self.held.generation, last)?;
            let Some(page) = page.filter(|it| it.chain.to_string() == words.chain) else {
                return Ok(());
            };
            self.place = page.end();
            if words.next < self.place.seq {
                let at = usize::try_from(words.next - page.first_seq).unwrap_or(usize::MAX);
                let lines = page.unpack(&self.session)?;
                self.open = Some(Open { first_byte: page.first_byte, lines, at });
            }
        } else if self.place.chain.to_string() != words.chain {
            return Ok(());
        }
        self.next = words.next;
        self.start = Start::Continued;
        self.owes_facts = words.facts != self.facts_hash;
        Ok(())
    }

    /// The next page, checked to be the one that follows.
    fn next_page(&mut self) -> Result<Open, ConnectorError> {
        let page = self.backend.page(&self.session, self.held.generation, self.next)?;
        let page = page.ok_or_else(|| page::damaged(&self.session, self.next, "is missing"))?;
        page.follows(&self.place, &self.session)?;
        let end = page.end();
        let is_last = end.seq == self.held.n_events;
        if self.held.n_events < end.seq || (is_last && end.chain != self.held.head) {
            return Err(page.damaged(&self.session, "is not where the session ends"));
        }
        let lines = page.unpack(&self.session)?;
        self.place = end;
        Ok(Open { first_byte: page.first_byte, lines, at: 0 })
    }

    fn cursor(&self) -> Cursor {
        let Self { held, next, place, facts_hash, .. } = self;
        Cursor::new(format!("{}:{next}:{}:{facts_hash}", held.generation, place.chain))
    }
}

impl FeedReader for Reader {
    fn start(&self) -> Start {
        self.start
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        if self.next == self.held.n_events && !self.owes_facts {
            return Ok(None);
        }
        let mut stretch = Stretch::default();
        let mut records = 0;
        while self.next < self.held.n_events
            && records < budget.records.max(1)
            && stretch.raw.len() < budget.bytes.max(1)
        {
            let mut open = match self.open.take() {
                Some(open) => open,
                // What was read before the damage stands, and is given out first.
                None => match self.next_page() {
                    Ok(open) => open,
                    Err(_) if 0 < records => break,
                    Err(error) => return Err(error),
                },
            };
            let line = open.lines.line(open.at);
            let first_byte = open.first_byte + open.lines.start(open.at) as u64;
            stretch.take(line, self.id, Span { first_byte, n_bytes: line.len() as u64 }, self.next);
            open.at += 1;
            self.next += 1;
            records += 1;
            if open.at < open.lines.len() {
                self.open = Some(open);
            }
        }
        self.owes_facts = false;
        Ok(Some(Batch {
            // A store takes no event of a session of which its batch states nothing.
            sessions: vec![self.facts.clone()],
            events: stretch.events,
            usage: Vec::new(),
            tally: stretch.tally,
            skipped: stretch.skipped,
            raw: stretch.raw,
            cursor: self.cursor(),
        }))
    }
}

/// A batch as it grows.
#[derive(Default)]
struct Stretch {
    events: Vec<Event>,
    tally: Tally,
    skipped: Vec<Skipped>,
    raw: Vec<u8>,
}

impl Stretch {
    fn take(&mut self, line: &[u8], session: SessionId, span: Span, seq: u64) {
        match wire::read(line, session, span) {
            Ok(event) => {
                let kinds = match &event.body {
                    EventBody::Unknown { kind, .. } => {
                        self.tally.unknown.entry(kind.clone()).or_default()
                    }
                    EventBody::Message { .. }
                    | EventBody::Reasoning { .. }
                    | EventBody::ToolCall { .. }
                    | EventBody::ToolResult { .. }
                    | EventBody::FileEdit { .. }
                    | EventBody::Plan { .. }
                    | EventBody::Compaction { .. }
                    | EventBody::Marker { .. } => {
                        self.tally.understood.entry(event.kind().as_str().to_owned()).or_default()
                    }
                };
                *kinds += 1;
                self.events.push(event);
            }
            Err(reason) => {
                self.tally.damaged += 1;
                self.skipped.push(Skipped { locator: format!("event {seq}"), reason });
            }
        }
        self.raw.extend_from_slice(line);
        self.raw.push(b'\n');
    }
}

/// A cursor's words: the place, and enough of a hash to know that it is a place in this content.
struct Words<'a> {
    generation: u64,
    next: u64,
    chain: &'a str,
    facts: &'a str,
}

impl<'a> Words<'a> {
    fn parse(words: &'a str) -> Option<Self> {
        let mut parts = words.split(':');
        let generation = parts.next()?.parse().ok()?;
        let next = parts.next()?.parse().ok()?;
        let words = Self { generation, next, chain: parts.next()?, facts: parts.next()? };
        parts.next().is_none().then_some(words)
    }
}

/// Said of a session that is in no workspace and of one that is in another.
fn absent(session: &SessionKey) -> ConnectorError {
    ConnectorError::Unreachable {
        place: session.to_string(),
        reason: "the workspace has no such session".to_owned(),
    }
}
