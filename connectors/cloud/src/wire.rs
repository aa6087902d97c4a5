//! Events as JSON lines: the form in which sessions travel between machines.
//!
//! A line is an event without its session and its span, which its place says. Machines of
//! different versions share a workspace, so a reader takes what it can: a field it does not know
//! is passed over, and an event that it does not understand is kept as
//! [`EventBody::Unknown`], whole.

mod facts;

use std::borrow::Cow;

use ai_hist_connector::model::{
    Author, Change, Event, EventBody, EventId, SessionId, Span, Timestamp, ToolOutcome,
};
use serde::{Deserialize, Serialize};

pub(crate) use facts::{read_facts, write_facts};

/// The version of a line. A later one may give the same fields another meaning.
const VERSION: u32 = 1;

/// A line as it is written.
#[derive(Debug, Default, Serialize)]
struct Out<'a> {
    v: u32,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    author: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'a str>,
    text: &'a str,
}

/// A line as it is read.
#[derive(Debug, Deserialize)]
struct In<'a> {
    v: u32,
    #[serde(borrow)]
    id: Cow<'a, str>,
    at: Option<i64>,
    #[serde(borrow, default)]
    author: Cow<'a, str>,
    model: Option<String>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    name: Option<String>,
    call: Option<String>,
    path: Option<String>,
    outcome: Option<String>,
    change: Option<String>,
    #[serde(default)]
    text: String,
}

/// What is read of a line of any version.
#[derive(Debug, Deserialize)]
struct Stub<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    at: Option<i64>,
}

/// Writes `event` as a line, with its newline.
pub(crate) fn write(event: &Event, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut line = Out {
        v: VERSION,
        id: event.id.to_string(),
        at: event.at.map(|it| it.0),
        text: event.body.text(),
        ..Out::default()
    };
    (line.author, line.model) = author_words(&event.author);
    match &event.body {
        EventBody::Message { .. } => line.kind = "message",
        EventBody::Reasoning { .. } => line.kind = "reasoning",
        EventBody::ToolCall { call, tool, .. } => {
            line.kind = "tool_call";
            line.name = Some(tool.as_str());
            line.call = Some(call.as_str());
        }
        EventBody::ToolResult { call, outcome, .. } => {
            line.kind = "tool_result";
            line.call = Some(call.as_str());
            line.outcome = Some(outcome_word(*outcome));
        }
        EventBody::FileEdit { call, path, change, .. } => {
            line.kind = "file_edit";
            line.call = call.as_deref();
            line.path = Some(path.as_str());
            line.change = Some(change_word(*change));
        }
        EventBody::Plan { .. } => line.kind = "plan",
        EventBody::Compaction { .. } => line.kind = "compaction",
        EventBody::Marker { name, .. } => {
            line.kind = "marker";
            line.name = Some(name.as_str());
        }
        EventBody::Unknown { kind, .. } => {
            line.kind = "unknown";
            line.name = Some(kind.as_str());
        }
    }
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
}

/// Reads the event of a line. The error says what is wrong with it, for a person.
pub(crate) fn read(line: &[u8], session: SessionId, span: Span) -> Result<Event, String> {
    let known = serde_json::from_slice::<In<'_>>(line).ok().filter(|it| it.v == VERSION);
    let event = |id: &str, at: Option<i64>, author, body| {
        let id =
            EventId::parse(id).ok_or_else(|| format!("`{}` is no event id", id.escape_debug()))?;
        let at = at.map(Timestamp);
        Ok(Event { id, session, at, author, body, span, inherited: false })
    };
    if let Some(mut known) = known
        && let Some(author) = author(&known.author, &mut known.model)
    {
        let (id, at) = (std::mem::take(&mut known.id), known.at);
        if let Some(body) = body(known) {
            return event(&id, at, author, body);
        }
    }
    let stub: Stub<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let kind = stub.kind.as_deref().unwrap_or("unstated").to_owned();
    let text = String::from_utf8_lossy(line).into_owned();
    event(&stub.id, stub.at, Author::Harness, EventBody::Unknown { kind, text })
}

/// Reads the id of a line's event.
pub(crate) fn read_id(line: &[u8]) -> Option<EventId> {
    let stub: Stub<'_> = serde_json::from_slice(line).ok()?;
    EventId::parse(&stub.id)
}

/// `None` for a kind or a word of a later version.
fn body(line: In<'_>) -> Option<EventBody> {
    let text = line.text;
    Some(match &*line.kind {
        "message" => EventBody::Message { text },
        "reasoning" => EventBody::Reasoning { text },
        "tool_call" => EventBody::ToolCall { call: line.call?, tool: line.name?, input: text },
        "tool_result" => EventBody::ToolResult {
            call: line.call?,
            outcome: outcome(&line.outcome?)?,
            output: text,
        },
        "file_edit" => EventBody::FileEdit {
            call: line.call,
            path: line.path?,
            change: change(&line.change?)?,
            diff: text,
        },
        "plan" => EventBody::Plan { text },
        "compaction" => EventBody::Compaction { summary: text },
        "marker" => EventBody::Marker { name: line.name?, text },
        "unknown" => EventBody::Unknown { kind: line.name?, text },
        _ => return None,
    })
}

fn author_words(author: &Author) -> (&'static str, Option<&str>) {
    match author {
        Author::Person => ("person", None),
        Author::Model { name } => ("model", name.as_deref()),
        Author::Tool => ("tool", None),
        Author::Agent => ("agent", None),
        Author::Harness => ("harness", None),
    }
}

fn author(word: &str, model: &mut Option<String>) -> Option<Author> {
    Some(match word {
        "person" => Author::Person,
        "model" => Author::Model { name: model.take() },
        "tool" => Author::Tool,
        "agent" => Author::Agent,
        "harness" => Author::Harness,
        _ => return None,
    })
}

const fn outcome_word(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Success => "success",
        ToolOutcome::Failure => "failure",
        ToolOutcome::Unstated => "unstated",
    }
}

fn outcome(word: &str) -> Option<ToolOutcome> {
    [ToolOutcome::Success, ToolOutcome::Failure, ToolOutcome::Unstated]
        .into_iter()
        .find(|it| outcome_word(*it) == word)
}

const fn change_word(change: Change) -> &'static str {
    match change {
        Change::Create => "create",
        Change::Update => "update",
        Change::Delete => "delete",
        Change::Move => "move",
    }
}

fn change(word: &str) -> Option<Change> {
    [Change::Create, Change::Update, Change::Delete, Change::Move]
        .into_iter()
        .find(|it| change_word(*it) == word)
}

#[cfg(test)]
mod tests;
