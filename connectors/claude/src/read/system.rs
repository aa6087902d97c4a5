//! System records: what the agent program reports.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody};
use serde_json::Value;

use super::{
    scribe::{Fate, Line, Part, Scribe},
    user,
};

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>) -> Fate {
    let text = line.record.content.words();
    let marker = |name| (name, text.unwrap_or_default().to_owned());
    let subtype = line.record.subtype.words();
    let (name, text) = match subtype {
        // Until 1.0.90 there were no subtypes.
        None | Some("informational" | "memory_saved" | "agents_killed" | "permission_retry") => {
            marker("notice")
        }
        Some("model_refusal_fallback") => marker("model-fallback"),
        Some("api_error") => ("error", error(line).unwrap_or_else(|| marker("").1)),
        Some("local_command") => {
            return match user::speech(scribe, line, Part::WHOLE, text.unwrap_or_default()) {
                Fate::Understood(_) => Fate::Understood(kind(subtype)),
                Fate::Ignored(_) | Fate::Unknown(_) | Fate::Damaged(_) => {
                    Fate::Ignored(kind(subtype))
                }
            };
        }
        Some("away_summary" | "scheduled_task_fire") => {
            let Some(text) = text.or(line.record.summary.words()) else {
                return Fate::Ignored(kind(subtype));
            };
            let body = EventBody::Message { text: text.to_owned() };
            scribe.event(line, Part::WHOLE, Author::Harness, body);
            return Fate::Understood(kind(subtype));
        }
        // Of a compaction the summary follows as a user record, and is the event.
        Some(
            "compact_boundary"
            | "microcompact_boundary"
            | "stop_hook_summary"
            | "turn_duration"
            | "bridge_status"
            | "api_metrics"
            | "file_snapshot"
            | "thinking",
        ) => return Fate::Ignored(kind(subtype)),
        Some(_) => {
            let kind = kind(subtype);
            scribe.unknown(line, Part::WHOLE, &kind);
            return Fate::Unknown(kind);
        }
    };
    if text.is_empty() {
        return Fate::Ignored(kind(subtype));
    }
    scribe.marker(line, Part::WHOLE, name, text);
    Fate::Understood(kind(subtype))
}

fn kind(subtype: Option<&str>) -> Cow<'static, str> {
    match subtype {
        Some(subtype) => Cow::Owned(format!("system/{subtype}")),
        None => Cow::Borrowed("system"),
    }
}

/// The innermost message of an error, which the layers it went through have wrapped.
fn error(line: &Line<'_>) -> Option<String> {
    let error: Value = serde_json::from_str(line.record.error?.get()).ok()?;
    let mut layer = &error;
    let mut message = None;
    loop {
        message = layer.get("message").and_then(Value::as_str).or(message);
        match layer.get("error").or_else(|| layer.get("cause")) {
            Some(inner) => layer = inner,
            None => break,
        }
    }
    let status = error.get("status").and_then(Value::as_u64);
    match (message.or(layer.as_str()), status) {
        (Some(message), Some(status)) => Some(format!("{status} {message}")),
        (Some(message), None) => Some(message.to_owned()),
        (None, Some(status)) => Some(status.to_string()),
        (None, None) => error.get("code").and_then(Value::as_str).map(str::to_owned),
    }
}
