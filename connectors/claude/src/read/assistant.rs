//! Assistant records: what the model says, thinks and calls.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody, ToolOutcome};

use super::{
    accounting, output, plan,
    record::{Block, Content, Message},
    scribe::{Fate, Line, Part, Scribe},
};

/// The name of the model under which the agent program itself answers.
pub(super) const SYNTHETIC: &str = "<synthetic>";

const KIND: Cow<'static, str> = Cow::Borrowed("assistant");

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>) -> Fate {
    let Some(message) = &line.record.message.0 else {
        return Fate::Damaged("an assistant record without its message".to_owned());
    };
    let n_before = scribe.page.events.len();
    let mut stranger = None;
    match &message.content {
        Content::Absent => {
            return Fate::Damaged("a message without its content".to_owned());
        }
        Content::Words(text) => speech(scribe, line, Part::WHOLE, message, text),
        Content::Blocks(blocks) => {
            for (at, it) in blocks.iter().enumerate() {
                if !block(scribe, line, Part::block(at), message, it) {
                    let kind = it.kind.words().unwrap_or("(none)");
                    let kind = format!("assistant/{kind}");
                    scribe.unknown(line, Part::block(at), &kind);
                    stranger = Some(kind);
                }
            }
        }
    }
    let usage = accounting::of_message(scribe.session.id(), line, message);
    let has_usage = usage.is_some();
    if let Some(usage) = usage {
        scribe.usage(usage);
    }
    match stranger {
        Some(kind) => Fate::Unknown(Cow::Owned(kind)),
        None if has_usage || n_before < scribe.page.events.len() => Fate::Understood(KIND),
        None => Fate::Ignored(Cow::Borrowed("assistant/empty")),
    }
}

fn author(message: &Message<'_>) -> Author {
    let name = message.model.words().filter(|it| *it != SYNTHETIC);
    Author::Model { name: name.map(str::to_owned) }
}

/// Whether the block is of a kind that is known.
fn block(
    scribe: &mut Scribe,
    line: &Line<'_>,
    part: Part,
    message: &Message<'_>,
    block: &Block<'_>,
) -> bool {
    let Some(kind) = block.kind.words() else {
        return false;
    };
    match kind {
        "text" => speech(scribe, line, part, message, block.text.words().unwrap_or_default()),
        "thinking" => {
            if let Some(thought) = block.thinking.words() {
                let body = EventBody::Reasoning { text: thought.to_owned() };
                scribe.event(line, part, author(message), body);
            }
        }
        // Sealed: nothing to be read.
        "redacted_thinking" | "fallback" => {}
        "tool_use" | "server_tool_use" | "mcp_tool_use" => call(scribe, line, part, message, block),
        "image" | "document" => {
            if let Some(text) = output::block(block) {
                let body = EventBody::Message { text: text.into_owned() };
                scribe.event(line, part, author(message), body);
            }
        }
        // A tool that the provider runs itself answers within the model's message.
        _ if kind.ends_with("_tool_result") => {
            let call = block.tool_use_id.words().unwrap_or_default().to_owned();
            let failed = block.is_error.is_true();
            let outcome = if failed { ToolOutcome::Failure } else { ToolOutcome::Unstated };
            let output = output::text(&block.content);
            let body = EventBody::ToolResult { call, outcome, output };
            scribe.event(line, part, Author::Tool, body);
        }
        _ => return false,
    }
    true
}

fn speech(scribe: &mut Scribe, line: &Line<'_>, part: Part, message: &Message<'_>, text: &str) {
    if text.is_empty() {
        return;
    }
    let is_error = line.record.is_api_error_message.is_true() || line.record.error.is_some();
    if is_error {
        scribe.marker(line, part, "error", text.to_owned());
    } else if message.model.words() == Some(SYNTHETIC) && text == "No response requested." {
        scribe.marker(line, part, "notice", text.to_owned());
    } else {
        let body = EventBody::Message { text: text.to_owned() };
        scribe.event(line, part, author(message), body);
    }
}

fn call(
    scribe: &mut Scribe,
    line: &Line<'_>,
    part: Part,
    message: &Message<'_>,
    block: &Block<'_>,
) {
    let body = EventBody::ToolCall {
        call: block.id.words().unwrap_or_default().to_owned(),
        tool: block.name.words().unwrap_or_default().to_owned(),
        input: block.input.map(|it| it.get().to_owned()).unwrap_or_default(),
    };
    scribe.event(line, part, author(message), body);
    if let Some(text) = plan::of_call(block) {
        let body = EventBody::Plan { text };
        scribe.event(line, part.aspect("plan"), author(message), body);
    }
}
