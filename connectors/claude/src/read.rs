//! Reads one transcript, record by record.
//!
//! A line becomes a [`record::Record`] that borrows from it; a file for each kind of record says
//! what it gives. Lines that are known to hold nothing are not even parsed.

mod accounting;
mod assistant;
mod attachment;
mod earlier;
mod edit;
mod history;
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
pub(crate) use history::History;
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
            Identity::Journal | Identity::History => {
                return Ok(Self { tail, voice: Voice::Journal(Box::default()) });
            }
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
        let Some(kind) = record.kind.words() else {
            return Fate::Damaged("a record without its type".to_owned());
        };
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs::File, io::Write as _, path::PathBuf};

    use ai_hist_connector::model::{Event, SessionId};
    use serde_json::{Value, json};

    use super::*;

    const ONE: &str = "11111111-1111-4111-8111-111111111111";
    const TWO: &str = "22222222-2222-4222-8222-222222222222";

    /// A record of session [`ONE`], numbered `n`.
    fn record(n: u32, rest: &Value) -> Value {
        let mut record = json!({
            "uuid": format!("00000000-0000-4000-8000-{n:012}"),
            "timestamp": format!("2026-03-01T10:00:{n:02}.000Z"),
            "sessionId": ONE,
            "cwd": "/home/dev/demo",
        });
        let fields = rest.as_object().expect("is an object").clone();
        record.as_object_mut().expect("is an object").extend(fields);
        record
    }

    /// One record of each form that gives several events.
    fn conversation() -> Vec<Value> {
        let usage = json!({"input_tokens": 1, "output_tokens": 2});
        let assistant = |id: Option<&str>, content: Value| {
            let message = json!({"id": id, "model": "m", "content": content, "usage": usage});
            json!({"type": "assistant", "message": message})
        };
        let call = json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "so"},
            {"type": "tool_use", "id": "t1", "name": "TodoWrite",
                "input": {"todos": [{"content": "a", "status": "pending"}]}},
        ]);
        let results = json!([
            {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "done too"},
            {"type": "text", "text": "go on"},
        ]);
        let edit = json!({"filePath": "/a", "oldString": "x", "structuredPatch": []});
        let context = json!({"content": "<system-reminder>x</system-reminder>go"});
        let queued = json!({"type": "queued_command", "prompt": "and this"});
        let records = [
            json!({"type": "user", "message": context}),
            assistant(Some("msg_1"), call),
            json!({"type": "user", "message": {"content": results}, "toolUseResult": edit}),
            assistant(None, json!("without an id")),
            json!({"type": "system", "subtype": "informational", "content": "x"}),
            json!({"type": "attachment", "attachment": queued}),
            json!({"type": "novelty"}),
        ];
        (1..).zip(&records).map(|(n, it)| record(n, it)).collect()
    }

    fn write(folder: &Path, session: &str, records: &[Value]) -> PathBuf {
        let path = folder.join(format!("{session}.jsonl"));
        let mut file = File::create(&path).expect("makes a file");
        for record in records {
            writeln!(file, "{record}").expect("writes");
        }
        path
    }

    fn reader(path: &Path) -> Reader {
        Reader::open(path, Identity::of(path).expect("reads"), None).expect("opens")
    }

    /// What a transcript is read as: its session, its events, the keys of its usage.
    fn read(path: &Path) -> (SessionId, Vec<Event>, BTreeSet<String>) {
        let mut reader = reader(path);
        let (mut events, mut keys) = (Vec::new(), BTreeSet::new());
        let budget = Budget { records: 2, bytes: 1_000_000 };
        while let Some(batch) = reader.next_batch(budget).expect("reads") {
            events.extend(batch.events);
            keys.extend(batch.usage.into_iter().map(|it| it.key));
        }
        let session = Identity::of(path).expect("reads").key().expect("has a session").id();
        (session, events, keys)
    }

    #[test]
    fn a_copied_record_gives_events_and_usage_of_the_same_names() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let original = conversation();
        let mut copy = vec![json!({"type": "mode", "mode": "normal", "sessionId": TWO})];
        copy.extend(original.iter().cloned().map(|mut it| {
            it["sessionId"] = json!(TWO);
            it
        }));
        let new = json!({"type": "user", "message": {"content": "new"}, "sessionId": TWO});
        copy.push(record(8, &new));
        let (parent, theirs, their_keys) = read(&write(folder.path(), ONE, &original));
        let (child, ours, our_keys) = read(&write(folder.path(), TWO, &copy));
        let as_ours: Vec<_> = theirs.iter().map(|it| it.id.within(parent, child)).collect();
        let ids: Vec<_> = ours.iter().map(|it| it.id).collect();
        assert_eq!(as_ours.len(), 14, "{theirs:?}");
        assert_eq!(ids[..as_ours.len()], as_ours);
        assert_eq!(ids.len(), as_ours.len() + 1);
        assert_eq!(their_keys, our_keys);
        assert_eq!(their_keys.len(), 2);
    }

    #[test]
    fn what_is_appended_while_the_file_is_read_is_read() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let all = conversation();
        let path = write(folder.path(), ONE, &all[..2]);
        let mut reader = reader(&path);
        let one = Budget { records: 1, bytes: 1_000_000 };
        let mut n_records = 0;
        for record in &all[2..] {
            let batch = reader.next_batch(one).expect("reads").expect("has a record");
            n_records += batch.tally.records();
            let mut file = File::options().append(true).open(&path).expect("opens");
            writeln!(file, "{record}").expect("appends");
        }
        while let Some(batch) = reader.next_batch(one).expect("reads") {
            n_records += batch.tally.records();
        }
        assert_eq!(n_records, all.len() as u64);
    }
}
