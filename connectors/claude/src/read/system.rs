//! System records: what the agent program reports.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody};
use serde::Deserialize;
use serde_json::Value;

use super::{
    output,
    record::{Content, Meta},
    scalar::Scalar,
    scribe::{Fate, Line, Part, Scribe},
    user,
};

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>) -> Fate {
    let text = line.record.content.words();
    let marker = |name| (name, text.unwrap_or_default().to_owned());
    let subtype = line.record.subtype.words();
    let (name, text) = match subtype {
        // Until 1.0.90 there were no subtypes.
        None
        | Some(
            "informational" | "memory_saved" | "agents_killed" | "permission_retry"
            | "bridge_status",
        ) => marker("notice"),
        Some("stop_hook_summary") => ("hook-error", complaints(line.text)),
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
            let record = Meta::of(line.text);
            let Some(text) = text.or(record.summary.words()) else {
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
            | "turn_duration"
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

/// What the hooks at the end of a turn complained of; nothing as a rule.
fn complaints(record: &str) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Summary<'a> {
        #[serde(borrow)]
        hook_errors: Content<'a>,
        #[serde(borrow)]
        stop_reason: Scalar<'a>,
    }
    let summary: Summary<'_> = serde_json::from_str(record).unwrap_or_default();
    let errors = output::text(&summary.hook_errors);
    let parts = [Some(errors.as_str()), summary.stop_reason.words()];
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
    parts.join("\n")
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
