//! From our values to tool results.
//!
//! A result carries its facts as `structuredContent`. Claude Code and Codex show their model that
//! and drop the text beside it, so for them the text is a short note; every other client gets the
//! same JSON as text too, as the protocol advises, within the same bound.

use ai_hist_engine::{
    EngineError,
    model::{Coded as _, message_with_causes},
    within,
};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

use crate::limits::{
    DEFAULT_ANSWER_BYTES, ENVELOPE_BYTES, MAX_ANSWER_BYTES, MIN_ANSWER_BYTES, MIN_DOUBLED_BYTES,
};

/// Clients whose model sees the structured content and nothing else.
const STRUCTURED_ONLY: [&str; 2] = ["claude-code", "codex-mcp-client"];

/// How an answer to one client is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    is_doubled: bool,
    max_bytes: usize,
}

impl Shape {
    /// For `client`, within the bytes that it asked for.
    pub(crate) fn new(client: Option<&str>, asked: Option<usize>) -> Result<Self, EngineError> {
        let bounds = MIN_ANSWER_BYTES..=MAX_ANSWER_BYTES;
        let max_bytes = within("max_bytes", asked, DEFAULT_ANSWER_BYTES, bounds)?;
        let is_known = client.is_some_and(|it| STRUCTURED_ONLY.contains(&it));
        Ok(Self { is_doubled: !is_known && MIN_DOUBLED_BYTES <= max_bytes, max_bytes })
    }

    /// How many bytes the structured content may have.
    pub(crate) const fn structured_bytes(self) -> usize {
        // A JSON text inside JSON has its quotes escaped: reckon a fifth more for it.
        let room = self.max_bytes - ENVELOPE_BYTES;
        if self.is_doubled { room * 5 / 11 } else { room }
    }

    /// A result that says `value`.
    pub(crate) fn answer(self, value: &impl Serialize) -> CallToolResult {
        let value = serde_json::to_value(value).unwrap_or_else(
            |error| json!({"error": {"code": "INTERNAL", "message": error.to_string()}}),
        );
        let text = value.to_string();
        let mut result = CallToolResult::structured(value);
        result.content = vec![ContentBlock::text("The answer is in structuredContent.")];
        if self.is_doubled && serialized(&result) + serialized(&text) <= self.max_bytes {
            result.content = vec![ContentBlock::text(text)];
        }
        result
    }
}

/// How many bytes a value has as JSON.
pub(crate) fn serialized(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |it| it.len())
}

/// A failure that a model can read and a program can branch on.
pub(crate) fn failure(error: &EngineError) -> CallToolResult {
    let code = error.code();
    let hint = error.hint();
    let message = message_with_causes(error);
    let text = match &hint {
        Some(hint) => format!("{}: {message}. Hint: {hint}.", code.as_str()),
        None => format!("{}: {message}.", code.as_str()),
    };
    let value: Value = json!({"error": {
        "code": code.as_str(),
        "message": message,
        "hint": hint.unwrap_or_default(),
        "retryable": code.class().is_retryable(),
    }});
    let mut result = CallToolResult::structured_error(value);
    result.content = vec![ContentBlock::text(text)];
    result
}
