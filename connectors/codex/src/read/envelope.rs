//! The outermost layer of a record, and who reads what is in it.

use std::borrow::Cow;

use ai_hist_connector::{
    jsonl,
    model::{Author, EventBody, NativeSessionId, Span, Timestamp},
};
use serde::Deserialize;
use serde_json::{Error, value::RawValue};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    bare, event_msg, fact,
    patch::{self, Edit},
    response_item::{self, Origin},
    scribe::{Draft, Scribe, Verdict},
    state::State,
    words::{Str, beginning, loose, tag, text},
};
use crate::limits::{MAX_KIND_BYTES, MAX_UNKNOWN_BYTES};

/// A record: `{timestamp, ordinal?, type, payload, metadata?}`, or in the bare format the item
/// alone.
///
/// What is not needed for every kind stays unread until its reader is known.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    record_type: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// Reads one line.
pub(super) fn read(bytes: &[u8], number: u64, span: Span, state: &mut State, draft: &mut Draft) {
    let line = jsonl::text(bytes);
    if line.is_empty() {
        draft.count("", &Verdict::ignored("blank"));
        return;
    }
    let mut repaired = None;
    let mut envelope = parse(&line);
    if envelope.is_err() {
        repaired = jsonl::repair(&line);
        if let Some(line) = &repaired {
            envelope = parse(line);
        }
    }
    let envelope = match envelope {
        Ok(envelope) => envelope,
        Err(reason) => return draft.damaged(number, reason),
    };
    let time = loose(envelope.timestamp).unwrap_or_default();
    let at = timestamp(&time);
    let key = if envelope.payload.is_some() && !time.is_empty() {
        // Its place among the records of its time tells apart what is byte for byte the same.
        let hash = xxh3_128(bytes);
        match state.nth_of_time(&time) {
            0 => format!("x{hash:032x}"),
            n => format!("x{hash:032x}.{n}"),
        }
    } else {
        format!("l{number}")
    };
    let kind = loose(envelope.kind).unwrap_or_default();
    let whole = repaired.as_deref().unwrap_or(&line);
    let mut scribe = Scribe::new(state, draft, key, at, span);
    let verdict = dispatch(&kind, &envelope, whole, &mut scribe).or_else(|_| {
        // A lone surrogate is only seen by whoever reads the string it is in.
        let again = if repaired.is_none() { jsonl::repair(&line) } else { None };
        let Some(line) = again else {
            return Err(());
        };
        let envelope = parse(&line).map_err(|_| ())?;
        dispatch(&kind, &envelope, &line, &mut scribe).map_err(|_| ())
    });
    let prefix = prefix(&kind, &envelope);
    let verdict = verdict.unwrap_or_else(|()| Verdict::unknown(inner_kind(&envelope, whole)));
    if verdict.is_unknown() {
        let name = [prefix, verdict.kind()].join("/");
        let text = beginning(whole, MAX_UNKNOWN_BYTES).to_owned();
        let name = name.trim_matches('/').to_owned();
        scribe.say(Author::Harness, EventBody::Unknown { kind: name, text });
    }
    draft.count(prefix, &verdict);
}

/// The session that a line of a file's head names.
pub(super) fn session_of(bytes: &[u8]) -> Option<NativeSessionId> {
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow)]
        id: Option<Str<'a>>,
    }
    let line = jsonl::text(bytes);
    let envelope = parse(&line).ok()?;
    match &*loose(envelope.kind).ok()? {
        "session_meta" => {
            let meta: Meta<'_> = serde_json::from_str(envelope.payload?.get()).ok()?;
            NativeSessionId::parse(&text(meta.id))
        }
        "" => NativeSessionId::parse(&loose(envelope.id).ok()?),
        _ => None,
    }
}

/// The edits that the call in a line makes if it succeeds.
pub(super) fn patch_of(bytes: &[u8]) -> Vec<Edit> {
    let line = jsonl::text(bytes);
    let edits = |line: &str| -> Option<Vec<Edit>> {
        let envelope = parse(line).ok()?;
        patch::edits_of_call(envelope.payload.map_or(line, RawValue::get)).ok()
    };
    edits(&line).or_else(|| edits(&jsonl::repair(&line)?)).unwrap_or_default()
}

fn parse(line: &str) -> Result<Envelope<'_>, String> {
    if !line.starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_str(line).map_err(|error| error.to_string())
}

fn timestamp(time: &str) -> Option<Timestamp> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(Timestamp(time.as_millisecond()))
}

fn dispatch(
    kind: &str,
    envelope: &Envelope<'_>,
    whole: &str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let Some(payload) = envelope.payload.map(RawValue::get) else {
        return without_payload(kind, envelope, whole, to);
    };
    match kind {
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

fn without_payload(
    kind: &str,
    envelope: &Envelope<'_>,
    whole: &str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    if is_exec_stream(kind) {
        return Ok(Verdict::ignored(own_kind(kind)));
    }
    if !kind.is_empty() {
        return response_item::read(whole, Origin::Bare, to);
    }
    if envelope.record_type.is_some() {
        return Ok(Verdict::ignored("record_type"));
    }
    if envelope.id.is_some() && envelope.timestamp.is_some() {
        return bare::head(whole, to);
    }
    Ok(Verdict::unknown("no type"))
}

/// `codex exec --json` prints another stream, which people save: `thread.started`, `turn.…`,
/// `item.…`.
fn is_exec_stream(kind: &str) -> bool {
    ["thread.", "turn.", "item."].iter().any(|it| kind.starts_with(it)) || kind == "error"
}

fn is_compaction_output(metadata: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct Metadata {
        compaction_output: Option<bool>,
    }
    let metadata = metadata.and_then(|it| serde_json::from_str::<Metadata>(it.get()).ok());
    metadata.and_then(|it| it.compaction_output) == Some(true)
}

/// The first word of the name under which a record is counted.
fn prefix<'a>(kind: &'a str, envelope: &Envelope<'_>) -> &'a str {
    match (envelope.payload, kind) {
        (Some(_), "") => "no type",
        (Some(_), kind) => beginning(kind, MAX_KIND_BYTES),
        (None, kind) if is_exec_stream(kind) => "exec-stream",
        (None, _) => "bare",
    }
}

/// The kind of what is in the envelope, where its reader did not understand it.
fn inner_kind(envelope: &Envelope<'_>, whole: &str) -> Cow<'static, str> {
    let kind = tag(envelope.payload.map_or(whole, RawValue::get));
    own_kind(kind.as_deref().unwrap_or_default())
}

/// A name that others chose, bounded.
pub(super) fn own_kind(kind: &str) -> Cow<'static, str> {
    Cow::Owned(beginning(kind, MAX_KIND_BYTES).to_owned())
}
