//! Writes down what the records of one batch say.

use std::{borrow::Cow, collections::BTreeMap, mem};

use ai_hist_connector::model::{
    Author, Event, EventBody, NativeEventKey, SessionFacts, Skipped, Span, Tally, Timestamp,
    TitleOrigin, Usage,
};
use xxhash_rust::xxh3::xxh3_128;

use super::{earlier::Earlier, plan::Tasks, record::Record, session::Session};
use crate::limits::MAX_UNKNOWN_BYTES;

/// What became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It gave events, facts or usage.
    Understood(Cow<'static, str>),
    /// It holds nothing of its own.
    Ignored(Cow<'static, str>),
    /// Its kind is not known.
    Unknown(Cow<'static, str>),
    /// It could not be read, for this reason.
    Damaged(String),
}

/// A record and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) record: &'a Record<'a>,
    pub(super) text: &'a str,
    pub(super) number: u64,
    pub(super) span: Span,
    pub(super) at: Option<Timestamp>,
}

/// Which part of a record an event is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The content block, from 0.
    pub(super) block: usize,
    /// What else the block gives beside its first event.
    pub(super) aspect: &'static str,
}

impl Part {
    /// The whole record.
    pub(super) const WHOLE: Self = Self::block(0);

    pub(super) const fn block(block: usize) -> Self {
        Self { block, aspect: "" }
    }

    pub(super) const fn aspect(self, aspect: &'static str) -> Self {
        Self { aspect, ..self }
    }
}

/// What the records of a batch have given so far.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) facts: Option<SessionFacts>,
    pub(super) events: Vec<Event>,
    pub(super) usage: Vec<Usage>,
    pub(super) tally: Tally,
    pub(super) skipped: Vec<Skipped>,
}

/// Writes events of one session, batch after batch.
#[derive(Debug)]
pub(super) struct Scribe {
    pub(super) session: Session,
    pub(super) earlier: Earlier,
    pub(super) tasks: Tasks,
    /// Where the session's own records begin; before it stand copies.
    pub(super) own_from: u64,
    pub(super) page: Page,
}

impl Scribe {
    pub(super) fn event(&mut self, line: &Line<'_>, part: Part, author: Author, body: EventBody) {
        self.session.facts_stated(&mut self.page.facts);
        let key = line.key(part);
        let event = Event::new(self.session.id(), &key, line.at, author, body, line.span);
        self.page.events.push(event);
    }

    /// An event of the agent program that is worth a line.
    pub(super) fn marker(&mut self, line: &Line<'_>, part: Part, name: &str, text: String) {
        let body = EventBody::Marker { name: name.to_owned(), text };
        self.event(line, part, Author::Harness, body);
    }

    /// An event that keeps the beginning of a record that is not understood.
    pub(super) fn unknown(&mut self, line: &Line<'_>, part: Part, kind: &str) {
        let text = line.text[..line.text.floor_char_boundary(MAX_UNKNOWN_BYTES)].to_owned();
        let body = EventBody::Unknown { kind: kind.to_owned(), text };
        self.event(line, part, Author::Harness, body);
    }

    /// Of the fragments of one message, which repeat its usage, one stands for a batch.
    pub(super) fn usage(&mut self, usage: Usage) {
        self.session.facts_stated(&mut self.page.facts);
        match self.page.usage.last_mut() {
            Some(last) if last.key == usage.key => {
                if last.output < usage.output {
                    *last = usage;
                }
            }
            Some(_) | None => self.page.usage.push(usage),
        }
    }

    pub(super) fn title(&mut self, text: &str, origin: TitleOrigin) {
        self.session.note_title(text, origin, &mut self.page.facts);
    }

    /// Takes from a record of the conversation what it says of the session.
    pub(super) fn note(&mut self, record: &Record<'_>) {
        self.session.note(record, &mut self.page.facts);
    }
}

impl Page {
    /// Counts a record.
    pub(super) fn count(&mut self, number: u64, fate: Fate) {
        match fate {
            Fate::Understood(kind) => add(&mut self.tally.understood, kind),
            Fate::Ignored(kind) => add(&mut self.tally.ignored, kind),
            Fate::Unknown(kind) => add(&mut self.tally.unknown, kind),
            Fate::Damaged(reason) => {
                self.tally.damaged += 1;
                self.skipped.push(Skipped { locator: format!("line {number}"), reason });
            }
        }
    }

    pub(super) fn take(&mut self) -> Self {
        mem::take(self)
    }
}

fn add(kinds: &mut BTreeMap<String, u64>, kind: Cow<'static, str>) {
    if let Some(n_records) = kinds.get_mut(&*kind) {
        *n_records += 1;
    } else {
        kinds.insert(kind.into_owned(), 1);
    }
}

impl Line<'_> {
    /// The name of an event: the record's own id, which stays when the record is copied into
    /// another file; else one made of its bytes, and of its place if nothing in it tells it from
    /// a repetition.
    fn key(&self, part: Part) -> NativeEventKey {
        let mut key = match self.record.uuid.words() {
            Some(uuid) => uuid.to_owned(),
            None => {
                let hash = xxh3_128(self.text.as_bytes());
                if self.at.is_some() {
                    format!("x{hash:032x}")
                } else {
                    format!("x{hash:032x}@{}", self.number)
                }
            }
        };
        if 0 < part.block {
            key.push('#');
            key.push_str(&part.block.to_string());
        }
        if !part.aspect.is_empty() {
            key.push('/');
            key.push_str(part.aspect);
        }
        NativeEventKey(key)
    }
}
