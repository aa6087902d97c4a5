//! Reads one transcript, record by record.
//!
//! A line becomes a [`record::Record`] that borrows from it; a file for each kind of record says
//! what it gives. Lines that are known to hold nothing are not even parsed.

mod accounting;
mod assistant;
mod attachment;
mod earlier;
mod edit;
mod kind;
mod meta;
mod output;
mod plan;
mod prompt;
mod queue;
mod record;
mod scalar;
mod scribe;
mod session;
mod system;
mod time;
mod user;

use std::{borrow::Cow, path::Path};

use ai_hist_connector::{
    Budget, ConnectorError, FeedReader, Start,
    jsonl::{self, LineBody, Tail},
    model::{Batch, Cursor, Span},
};
pub(crate) use scalar::Scalar;

use self::{
    earlier::Earlier,
    plan::Tasks,
    record::{Content, Record},
    scribe::{Fate, Line, Page, Scribe},
    session::Session,
};
use crate::identity::Identity;

/// One pass over one transcript.
#[derive(Debug)]
pub(crate) struct Reader {
    tail: Tail,
    voice: Voice,
}

/// Who speaks in a file.
#[derive(Debug)]
enum Voice {
    /// A session.
    Session(Box<Scribe>),
    /// Nobody: the account of a workflow.
    Journal(Box<Page>),
}

impl Reader {
    pub(crate) fn open(
        path: &Path,
        identity: Identity,
        cursor: Option<&Cursor>,
    ) -> Result<Self, ConnectorError> {
        let tail = Tail::open(path, cursor)?;
        let earlier = Earlier::of(path.to_owned());
        let mut own_from = 0;
        let session = match identity {
            Identity::Main(key) => Session::main(key, earlier.head_summaries()),
            Identity::SubAgent(sub_agent) => {
                if sub_agent.has_copies {
                    own_from = earlier.question();
                }
                Session::sub_agent(sub_agent)
            }
            Identity::Journal => return Ok(Self { tail, voice: Voice::Journal(Box::default()) }),
        };
        let tasks = match tail.start() {
            Start::Continued => Tasks::to_be_looked_up(),
            Start::Restarted => Tasks::none_yet(),
        };
        let scribe = Scribe { session, earlier, tasks, own_from, page: Page::default() };
        Ok(Self { tail, voice: Voice::Session(Box::new(scribe)) })
    }
}

impl FeedReader for Reader {
    fn start(&self) -> Start {
        self.tail.start()
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        let mut n_records = 0;
        while n_records < budget.records && self.tail.n_untaken() < budget.bytes {
            let Some(line) = self.tail.next_line()? else {
                break;
            };
            let fate = match line.body {
                LineBody::Whole(bytes) => self.voice.read(bytes, line.number, line.span),
                LineBody::Piece => continue,
                LineBody::TooLong => Fate::Damaged("the line is too long".to_owned()),
            };
            n_records += 1;
            self.voice.page().count(line.number, fate);
        }
        if n_records == 0 && self.tail.n_untaken() == 0 {
            return Ok(None);
        }
        let Page { facts, events, usage, tally, skipped } = self.voice.page().take();
        let raw = self.tail.take_raw();
        let cursor = self.tail.cursor();
        let sessions = facts.into_iter().collect();
        Ok(Some(Batch { sessions, events, usage, tally, skipped, raw, cursor }))
    }

    fn rest(&self) -> &[u8] {
        self.tail.rest()
    }
}

impl Voice {
    const fn page(&mut self) -> &mut Page {
        match self {
            Self::Session(scribe) => &mut scribe.page,
            Self::Journal(page) => page,
        }
    }

    fn read(&mut self, bytes: &[u8], number: u64, span: Span) -> Fate {
        let text = jsonl::text(bytes);
        if text.is_empty() {
            return Fate::Ignored(Cow::Borrowed("blank"));
        }
        if !text.starts_with('{') {
            return not_a_record(&text);
        }
        if let Some(kind) = kind::of_no_content(&text) {
            return Fate::Ignored(kind);
        }
        let error = match serde_json::from_str::<Record<'_>>(&text) {
            Ok(record) => return self.understand(&record, &text, number, span),
            Err(error) => error,
        };
        // A line that parses needs no repair, and almost every line does.
        if let Some(repaired) = jsonl::repair(&text)
            && let Ok(record) = serde_json::from_str::<Record<'_>>(&repaired)
        {
            return self.understand(&record, &repaired, number, span);
        }
        Fate::Damaged(error.to_string())
    }

    fn understand(&mut self, record: &Record<'_>, text: &str, number: u64, span: Span) -> Fate {
        let kind = record.kind.words().unwrap_or("(none)");
        let scribe = match self {
            Self::Session(scribe) => scribe,
            Self::Journal(_) => return Fate::Ignored(Cow::Owned(format!("journal/{kind}"))),
        };
        if span.first_byte < scribe.own_from {
            return Fate::Ignored(Cow::Borrowed("copy-of-parent"));
        }
        let line = Line { record, text, number, span, at: record.timestamp.time() };
        let fate = match kind {
            "user" => user::read(scribe, &line),
            "assistant" => assistant::read(scribe, &line),
            "system" => system::read(scribe, &line),
            "attachment" => attachment::read(scribe, &line),
            _ => return meta::read(scribe, &line, kind),
        };
        match &fate {
            Fate::Understood(_) | Fate::Unknown(_) => scribe.note(record),
            Fate::Ignored(_) | Fate::Damaged(_) => {}
        }
        fate
    }
}

/// A line that is no JSON object. People commit transcripts with Git LFS, which leaves a pointer of
/// three lines in their place.
fn not_a_record(text: &str) -> Fate {
    let is_pointer = text.starts_with("version https://git-lfs")
        || text.starts_with("oid sha256:")
        || text.strip_prefix("size ").is_some_and(|it| it.parse::<u64>().is_ok());
    if is_pointer {
        return Fate::Ignored(Cow::Borrowed("git-lfs-pointer"));
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Fate::Damaged("not a JSON object".to_owned()),
        Err(error) => Fate::Damaged(error.to_string()),
    }
}

/// Whether `line` is the record in which the model makes the tool call `id`: not one that tells
/// of it.
pub(crate) fn makes_call(line: &[u8], id: &str) -> bool {
    let text = jsonl::text(line);
    let Ok(record) = serde_json::from_str::<Record<'_>>(&text) else {
        return false;
    };
    let Some(message) = record.message.0.filter(|_| record.kind.words() == Some("assistant"))
    else {
        return false;
    };
    let Content::Blocks(blocks) = message.content else {
        return false;
    };
    let is_call = |kind: &str| ["tool_use", "mcp_tool_use", "server_tool_use"].contains(&kind);
    blocks.iter().any(|it| it.id.words() == Some(id) && it.kind.words().is_some_and(is_call))
}
