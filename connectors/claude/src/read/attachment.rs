//! Attachments: what the agent program lays before the model beside the person's words.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    kind,
    output::{self, n_decoded_bytes},
    prompt::Marks,
    record::{Content, Origin},
    scalar::{Object, Scalar},
    scribe::{Fate, Line, Part, Scribe},
    user,
};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow)]
    prompt: Content<'a>,
    #[serde(borrow)]
    command_mode: Scalar<'a>,
    #[serde(borrow)]
    origin: Object<Origin<'a>>,
    #[serde(borrow)]
    is_meta: Scalar<'a>,
    #[serde(borrow)]
    filename: Scalar<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    snippet: Scalar<'a>,
    #[serde(borrow)]
    hook_name: Scalar<'a>,
    #[serde(borrow)]
    stderr: Scalar<'a>,
    #[serde(borrow)]
    blocking_error: Option<&'a RawValue>,
}

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>) -> Fate {
    let json = line.record.attachment.map_or("null", RawValue::get);
    let Ok(Object(Some(attachment))) = serde_json::from_str::<Object<Attachment<'_>>>(json) else {
        return Fate::Damaged("an attachment record without its attachment".to_owned());
    };
    let word = attachment.kind.words().unwrap_or("(none)");
    if let Some(kind) = kind::attachment_of_no_content(word) {
        return Fate::Ignored(Cow::Borrowed(kind));
    }
    let kind = Cow::Owned(format!("attachment/{word}"));
    match word {
        "queued_command" => queued(scribe, line, &attachment, kind),
        // What a hook printed, if it is for the model. What it gave as JSON has an attachment of
        // its own.
        "hook_success" => match attachment.content.and_then(content).filter(|it| !it.is_empty()) {
            Some(text) => {
                scribe.event(line, Part::WHOLE, Author::Harness, EventBody::Message { text });
                Fate::Understood(kind)
            }
            None => Fate::Ignored(kind),
        },
        "hook_non_blocking_error" | "hook_error_during_execution" | "hook_blocking_error" => {
            let text = [attachment.hook_name.words(), attachment.stderr.words()];
            let mut text: Vec<&str> = text.into_iter().flatten().collect();
            text.extend(attachment.blocking_error.map(RawValue::get));
            scribe.marker(line, Part::WHOLE, "hook-error", text.join("\n"));
            Fate::Understood(kind)
        }
        "file"
        | "directory"
        | "edited_text_file"
        | "edited_image_file"
        | "bagel_console"
        | "diagnostics"
        | "selected_lines_in_ide"
        | "opened_file_in_ide"
        | "mcp_resource"
        | "agent_mention"
        | "hook_additional_context"
        | "hook_system_message"
        | "hook_stopped_continuation"
        | "async_hook_response"
        | "pdf_reference"
        | "plan_file_reference"
        | "task_status"
        | "goal_status"
        | "max_turns_reached"
        | "teammate_mailbox" => {
            let text = text(&attachment).unwrap_or_else(|| json.to_owned());
            let is_of_agent = word == "teammate_mailbox";
            let author = if is_of_agent { Author::Agent } else { Author::Harness };
            scribe.event(line, Part::WHOLE, author, EventBody::Message { text });
            Fate::Understood(kind)
        }
        _ => {
            scribe.unknown(line, Part::WHOLE, &kind);
            Fate::Unknown(kind)
        }
    }
}

/// What the person typed while the agent worked, or a message of the program's that waited with
/// it. It stands nowhere else but among the queue's own records.
fn queued(
    scribe: &mut Scribe,
    line: &Line<'_>,
    attachment: &Attachment<'_>,
    kind: Cow<'static, str>,
) -> Fate {
    let mode = attachment.command_mode.words();
    let origin = attachment.origin.0.as_ref().and_then(|it| it.kind.words());
    let is_injected = mode.is_some_and(|it| it == "task-notification")
        || origin.is_some_and(|it| it != "human")
        || attachment.is_meta.is_true();
    let text = output::text(&attachment.prompt);
    if mode == Some("bash") {
        let body = EventBody::Marker { name: "shell".to_owned(), text };
        scribe.event(line, Part::WHOLE, Author::Person, body);
        return Fate::Understood(kind);
    }
    let marks = Marks { is_injected, is_summary: false };
    match user::speech_with(scribe, line, Part::WHOLE, &text, marks) {
        Fate::Understood(_) => Fate::Understood(kind),
        Fate::Ignored(_) | Fate::Unknown(_) | Fate::Damaged(_) => Fate::Ignored(kind),
    }
}

/// What an attachment says, in the fields that hold text in most of them.
fn text(attachment: &Attachment<'_>) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(attachment.filename.words().map(|it| format!("@{it}")));
    parts.extend(attachment.content.and_then(content));
    parts.extend(attachment.snippet.words().map(str::to_owned));
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The text of a content: a string, a list of them, or a file as a tool would show it.
fn content(json: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Shown<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: Scalar<'a>,
        #[serde(borrow, default)]
        file: Object<File<'a>>,
    }
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow, default)]
        content: Scalar<'a>,
        #[serde(borrow, default)]
        base64: Option<&'a RawValue>,
    }
    let json = json.get();
    if !json.starts_with('{') {
        let content: Content<'_> = serde_json::from_str(json).ok()?;
        return Some(output::text(&content)).filter(|it| !it.is_empty());
    }
    let shown: Shown<'_> = serde_json::from_str(json).ok()?;
    let file = shown.file.0?;
    if let Some(data) = file.base64 {
        let kind = shown.kind.words().unwrap_or("file");
        return Some(format!("[{kind}, {} bytes]", n_decoded_bytes(data)));
    }
    file.content.words().map(str::to_owned)
}
