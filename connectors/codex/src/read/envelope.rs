//! The outermost layer of a record, and who reads what is in it.

use std::borrow::Cow;

use ai_hist_connector::{
    jsonl,
    model::{Author, EventBody, NativeSessionId, Span, Timestamp},
};
use serde::de::IgnoredAny;

use super::{
    bare, event_msg, fact,
    json::{Json, Malformed},
    patch::{self, Edit},
    response_item::{self, Origin},
    scribe::{Draft, Name, Record, Scribe, Verdict},
    state::State,
    words::{beginning, loose, tag, text},
};
use crate::limits::{MAX_KIND_BYTES, MAX_UNKNOWN_BYTES};

/// A record: `{timestamp, ordinal?, type, payload, metadata?}`, or in the bare format the item
/// alone.
#[derive(Debug)]
struct Envelope<'a> {
    whole: Json<'a>,
    timestamp: Option<Json<'a>>,
    ordinal: Option<Json<'a>>,
    kind: Cow<'a, str>,
    payload: Option<Json<'a>>,
    metadata: Option<Json<'a>>,
}

impl<'a> Envelope<'a> {
    fn of(line: &'a str) -> Result<Self, Malformed> {
        let names = ["timestamp", "ordinal", "type", "payload", "metadata"];
        let (whole, found) = Json::object(line, names)?;
        let [timestamp, ordinal, kind, payload, metadata] = found;
        Ok(Self { whole, timestamp, ordinal, kind: loose(kind)?, payload, metadata })
    }

    /// What its kind tells how to read.
    fn content(&self) -> Json<'a> {
        self.payload.unwrap_or(self.whole)
    }
}

/// Reads one line.
pub(super) fn read(bytes: &[u8], number: u64, span: Span, state: &mut State, draft: &mut Draft) {
    let line = jsonl::text(bytes);
    if line.is_empty() {
        draft.count("", &Verdict::ignored("blank"));
        return;
    }
    let Ok(envelope) = Envelope::of(&line) else {
        return draft.damaged(number, damage(&line));
    };
    let time = loose(envelope.timestamp).unwrap_or_default();
    let at = timestamp(&time);
    let name = if envelope.payload.is_some() && !time.is_empty() {
        Name::Bytes { bytes, nth: state.nth_of_time(&time) }
    } else {
        Name::Line(number)
    };
    let ordinal = envelope.ordinal.and_then(|it| it.number().ok());
    let is_inherited = state.inherited.covers(ordinal, at);
    let record = Record { name, at, span, is_inherited };
    let mut scribe = Scribe::new(state, draft, record);
    let verdict = dispatch(&envelope, &mut scribe)
        .unwrap_or_else(|Malformed| Verdict::unknown(inner_kind(&envelope)));
    let prefix = prefix(&envelope);
    if verdict.is_unknown() {
        let name = [prefix, verdict.kind()].join("/");
        let text = beginning(&line, MAX_UNKNOWN_BYTES).to_owned();
        let name = name.trim_matches('/').to_owned();
        scribe.say(Author::Harness, EventBody::Unknown { kind: name, text });
    }
    draft.count(prefix, &verdict);
}

/// The session that a line of a file's head names.
pub(super) fn session_of(bytes: &[u8]) -> Option<NativeSessionId> {
    let line = jsonl::text(bytes);
    let envelope = Envelope::of(&line).ok()?;
    match &*envelope.kind {
        "session_meta" | "" => {
            let [id] = envelope.content().fields(["id"]).ok()?;
            NativeSessionId::parse(&text(id).ok()?)
        }
        _ => None,
    }
}

/// The edits that the call in a line makes if it succeeds.
pub(super) fn patch_of(bytes: &[u8]) -> Vec<Edit> {
    let line = jsonl::text(bytes);
    let envelope = Envelope::of(&line);
    envelope.and_then(|it| patch::edits_of_call(it.content())).unwrap_or_default()
}

/// What is wrong with a line, in the words of a parser that says where.
pub(super) fn damage(line: &str) -> String {
    if !line.starts_with('{') {
        return "not a JSON object".to_owned();
    }
    match serde_json::from_str::<IgnoredAny>(line) {
        Ok(_) => "a value of an unexpected kind".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn timestamp(time: &str) -> Option<Timestamp> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(Timestamp(time.as_millisecond()))
}

fn dispatch(envelope: &Envelope<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let Some(payload) = envelope.payload else {
        return without_payload(envelope, to);
    };
    match &*envelope.kind {
        "response_item" => {
            let origin = if is_compaction_output(envelope.metadata) {
                Origin::Compaction
            } else {
                Origin::Envelope
            };
            response_item::read(payload, origin, to)
        }
        "event_msg" => event_msg::read(payload, to),
        "session_meta" => fact::session_meta(payload, to),
        "turn_context" => fact::turn_context(payload, to),
        "compacted" => fact::compacted(payload, to),
        "inter_agent_communication" => fact::inter_agent_communication(payload, to),
        "inter_agent_communication_metadata"
        | "retained_context"
        | "security_risk_score"
        | "token_usage_record"
        | "world_state" => Ok(Verdict::ignored("")),
        _ => Ok(Verdict::unknown("")),
    }
}

fn without_payload(envelope: &Envelope<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let kind = &*envelope.kind;
    if is_exec_stream(kind) {
        return Ok(Verdict::ignored(own_kind(kind)));
    }
    if !kind.is_empty() {
        return response_item::read(envelope.whole, Origin::Bare, to);
    }
    let [record_type, id] = envelope.whole.fields(["record_type", "id"])?;
    if record_type.is_some() {
        return Ok(Verdict::ignored("record_type"));
    }
    if id.is_some() && envelope.timestamp.is_some() {
        return bare::head(envelope.whole, to);
    }
    Ok(Verdict::unknown("no type"))
}

/// `codex exec --json` prints another stream, which people save: `thread.started`, `turn.…`,
/// `item.…`.
fn is_exec_stream(kind: &str) -> bool {
    ["thread.", "turn.", "item."].iter().any(|it| kind.starts_with(it)) || kind == "error"
}

fn is_compaction_output(metadata: Option<Json<'_>>) -> bool {
    let said = metadata.and_then(|it| it.fields(["compaction_output"]).ok()?[0]);
    said.and_then(|it| it.flag().ok()) == Some(true)
}

/// The first word of the name under which a record is counted.
fn prefix<'a>(envelope: &'a Envelope<'_>) -> &'a str {
    match (envelope.payload, &*envelope.kind) {
        (Some(_), "") => "no type",
        (Some(_), kind) => beginning(kind, MAX_KIND_BYTES),
        (None, kind) if is_exec_stream(kind) => "exec-stream",
        (None, _) => "bare",
    }
}

/// The kind of what is in the envelope, where its reader did not understand it.
fn inner_kind(envelope: &Envelope<'_>) -> Cow<'static, str> {
    own_kind(tag(envelope.content()).as_deref().unwrap_or_default())
}

/// A name that others chose, bounded.
pub(super) fn own_kind(kind: &str) -> Cow<'static, str> {
    Cow::Owned(beginning(kind, MAX_KIND_BYTES).to_owned())
}
