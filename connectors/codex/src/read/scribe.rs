//! Writing down what a record says.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write as _};

use ai_hist_connector::model::{
    Author, Batch, Cursor, Event, EventBody, NativeEventKey, SessionFacts, SessionId, Skipped,
    Span, Tally, Timestamp, Usage,
};

use xxhash_rust::xxh3::xxh3_128;

use super::state::{Mark, State};

/// A batch that is being written.
#[derive(Debug)]
pub(super) struct Draft {
    facts: SessionFacts,
    has_facts: bool,
    session: SessionId,
    events: Vec<Event>,
    usage: Vec<Usage>,
    tally: Tally,
    skipped: Vec<Skipped>,
    /// For names of kinds, so that to count a record costs no memory.
    kind: String,
}

/// What became of a record.
#[derive(Debug)]
pub(super) struct Verdict {
    fate: Fate,
    kind: Cow<'static, str>,
}

/// The three ends of a record that could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It gave something.
    Understood,
    /// It is known to hold nothing of its own.
    Ignored,
    /// We do not know its kind.
    Unknown,
}

/// Writes down what one record says.
#[derive(Debug)]
pub(super) struct Scribe<'a> {
    pub(super) state: &'a mut State,
    pub(super) at: Option<Timestamp>,
    pub(super) span: Span,
    /// The record was copied from the session that this one comes from.
    pub(super) is_inherited: bool,
    draft: &'a mut Draft,
    name: Name<'a>,
    /// What `name` stands for, once that was asked.
    key: String,
    n_events: usize,
}

/// What a record is called.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name<'a> {
    /// By its bytes, and its place among the records of its time: that tells apart what is byte
    /// for byte the same.
    Bytes {
        /// The whole record.
        bytes: &'a [u8],
        /// Its place, from 0.
        nth: u32,
    },
    /// By the number of its line.
    Line(u64),
}

/// A record, as far as its reader does not see it in the record itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) name: Name<'a>,
    pub(super) at: Option<Timestamp>,
    pub(super) span: Span,
    pub(super) is_inherited: bool,
}

impl Draft {
    /// A batch about the session of `facts`, which it names if it is the first.
    pub(super) fn new(facts: SessionFacts, is_first: bool) -> Self {
        Self {
            session: facts.key.id(),
            facts,
            has_facts: is_first,
            events: Vec::new(),
            usage: Vec::new(),
            tally: Tally::default(),
            skipped: Vec::new(),
            kind: String::new(),
        }
    }

    /// Counts a record: `prefix` is the kind of its envelope.
    pub(super) fn count(&mut self, prefix: &str, verdict: &Verdict) {
        let kinds = match verdict.fate {
            Fate::Understood => &mut self.tally.understood,
            Fate::Ignored => &mut self.tally.ignored,
            Fate::Unknown => &mut self.tally.unknown,
        };
        self.kind.clear();
        self.kind.push_str(prefix);
        match verdict.kind.chars().next() {
            Some('(') => self.kind.push(' '),
            Some(_) if !prefix.is_empty() => self.kind.push('/'),
            Some(_) | None => {}
        }
        self.kind.push_str(&verdict.kind);
        add_one(kinds, &self.kind);
    }

    /// Counts and reports a record that cannot be read.
    pub(super) fn damaged(&mut self, line: u64, reason: String) {
        self.tally.damaged += 1;
        self.skipped.push(Skipped { locator: format!("line {line}"), reason });
    }

    pub(super) fn into_batch(self, raw: Vec<u8>, cursor: Cursor) -> Batch {
        Batch {
            sessions: self.has_facts.then_some(self.facts).into_iter().collect(),
            events: self.events,
            usage: self.usage,
            tally: self.tally,
            skipped: self.skipped,
            raw,
            cursor,
        }
    }
}

fn add_one(kinds: &mut BTreeMap<String, u64>, kind: &str) {
    match kinds.get_mut(kind) {
        Some(n) => *n += 1,
        None => {
            kinds.insert(kind.to_owned(), 1);
        }
    }
}

impl Verdict {
    pub(super) fn understood(kind: impl Into<Cow<'static, str>>) -> Self {
        Self { fate: Fate::Understood, kind: kind.into() }
    }

    pub(super) fn ignored(kind: impl Into<Cow<'static, str>>) -> Self {
        Self { fate: Fate::Ignored, kind: kind.into() }
    }

    pub(super) fn unknown(kind: impl Into<Cow<'static, str>>) -> Self {
        Self { fate: Fate::Unknown, kind: kind.into() }
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.fate == Fate::Unknown
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// The same with `prefix` before the kind.
    pub(super) fn below(self, prefix: &str) -> Self {
        Self { kind: format!("{prefix}/{}", self.kind).into(), ..self }
    }
}

impl<'a> Scribe<'a> {
    /// Begins with a record.
    pub(super) fn new(state: &'a mut State, draft: &'a mut Draft, record: Record<'a>) -> Self {
        let Record { name, at, span, is_inherited } = record;
        Self { state, at, span, is_inherited, draft, name, key: String::new(), n_events: 0 }
    }

    /// The name of the record, for what has no name of its own.
    pub(super) fn key(&mut self) -> &str {
        if self.key.is_empty() {
            let _ = match self.name {
                Name::Bytes { bytes, nth: 0 } => write!(self.key, "x{:032x}", xxh3_128(bytes)),
                Name::Bytes { bytes, nth } => write!(self.key, "x{:032x}.{nth}", xxh3_128(bytes)),
                Name::Line(number) => write!(self.key, "l{number}"),
            };
        }
        &self.key
    }

    /// Writes down an event.
    pub(super) fn say(&mut self, author: Author, body: EventBody) {
        let mut key = self.key().to_owned();
        if self.n_events != 0 {
            let _ = write!(key, "#{}", self.n_events);
        }
        self.n_events += 1;
        let key = NativeEventKey(key);
        let mut event = Event::new(self.draft.session, &key, self.at, author, body, self.span);
        event.inherited = self.is_inherited;
        self.draft.events.push(event);
    }

    /// The model, as the author of what it does.
    pub(super) fn model(&self) -> Author {
        Author::Model { name: self.state.model.clone() }
    }

    /// What is stated about the session, to be added to.
    pub(super) fn facts(&mut self) -> &mut SessionFacts {
        self.draft.has_facts = true;
        &mut self.draft.facts
    }

    /// What the session is called.
    pub(super) fn own(&self) -> &str {
        self.draft.facts.key.native.as_str()
    }

    /// Whether `native` is what the session is called.
    pub(super) fn is_own(&self, native: &str) -> bool {
        self.own() == native
    }

    /// Takes note that a turn begins, which may be the session's own first one.
    pub(super) fn begin_turn(&mut self, turn: &str) {
        let session = self.draft.facts.key.native.as_str();
        if self.is_inherited && self.state.inherited.begin_turn(turn, session) {
            self.is_inherited = false;
        }
    }

    /// States where the session began, unless that has been stated.
    pub(super) fn state_cwd(&mut self, cwd: &str) {
        if !cwd.is_empty() && self.state.set(Mark::HasCwd) {
            self.facts().cwd = Some(cwd.to_owned());
        }
    }

    /// Writes down what a call of the model cost.
    pub(super) fn charge(&mut self, usage: impl FnOnce(SessionId) -> Usage) {
        self.draft.usage.push(usage(self.draft.session));
    }
}
