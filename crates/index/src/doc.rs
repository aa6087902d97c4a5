//! What is indexed of an event.

use ai_hist_model::{EventBody, EventKind, Timestamp};

/// What is indexed of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doc<'a> {
    /// The event's row in the store: unique, and in commit order.
    pub row: u64,
    /// Its session's row.
    pub session: u64,
    /// Its kind.
    pub kind: EventKind,
    /// Who held the session.
    pub agent: &'a str,
    /// Where: the session's working directory.
    pub project: &'a str,
    /// When it happened.
    pub at: Option<Timestamp>,
    /// The tool that was called, or empty.
    pub tool: &'a str,
    /// The file that was changed, or empty.
    pub path: &'a str,
    /// The words.
    pub text: &'a str,
}

impl<'a> Doc<'a> {
    /// The same with what `body` holds.
    #[must_use]
    pub fn with_body(self, body: &'a EventBody) -> Self {
        let (tool, path) = match body {
            EventBody::ToolCall { tool, .. } => (tool.as_str(), ""),
            EventBody::FileEdit { path, .. } => ("", path.as_str()),
            EventBody::Message { .. }
            | EventBody::Reasoning { .. }
            | EventBody::ToolResult { .. }
            | EventBody::Plan { .. }
            | EventBody::Compaction { .. }
            | EventBody::Marker { .. }
            | EventBody::Unknown { .. } => ("", ""),
        };
        Self { tool, path, text: body.text(), ..self }
    }
}
