//! Sessions as files for others: Markdown to read, JSON lines to work with.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use ai_hist_handoff::{RowStyle, time};
use ai_hist_model::EventKind;
use ai_hist_redact::Redactor;
use ai_hist_store::{StoredEvent, StoredSession};
use serde_json::json;

use crate::{Engine, EngineError, limits::MAX_READ_EVENTS};

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A document to read.
    Markdown,
    /// A line about the session, then one for each event, whole.
    JsonLines,
}

/// Whether secrets are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// They are replaced.
    Redacted,
    /// They are as recorded.
    Kept,
}

impl Engine {
    /// Writes a session, read to its present end. Gives the number of events.
    pub fn export(
        &self,
        reference: &str,
        format: ExportFormat,
        secrets: Secrets,
        out: &mut dyn Write,
    ) -> Result<u64, EngineError> {
        let session = self.current(reference)?;
        let store = self.store()?;
        let export = Export { format, secrets };
        let fail = |source| EngineError::ExportFailed { source };
        export.head(&session, out).map_err(fail)?;
        let mut from = 0;
        loop {
            let events = store.events_up(session.row, from, session.n_events, MAX_READ_EVENTS)?;
            let Some(last) = events.last() else { break };
            from = last.seq + 1;
            for event in &events {
                export.event(event, out).map_err(fail)?;
            }
        }
        out.flush().map_err(fail)?;
        Ok(session.n_events)
    }
}

struct Export {
    format: ExportFormat,
    secrets: Secrets,
}

impl Export {
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.secrets {
            Secrets::Redacted => Redactor::builtin().redact(text).text,
            Secrets::Kept => Cow::Borrowed(text),
        }
    }

    fn head(&self, session: &StoredSession, out: &mut dyn Write) -> io::Result<()> {
        let facts = &session.facts;
        let title = self.clean(session.display_title());
        let cwd = facts.cwd.as_deref().map(|it| self.clean(it));
        let (from, to) = (session.started.and_then(time), session.ended.and_then(time));
        if self.format == ExportFormat::JsonLines {
            let head = json!({
                "source": facts.key.agent.as_str(),
                "session_id": facts.key.native.as_str(),
                "title": title,
                "cwd": cwd,
                "branch": facts.git_branch,
                "first_activity": from,
                "last_activity": to,
                "n_events": session.n_events,
                "parent": facts.lineage.as_ref().map(|it| it.parent.to_string()),
            });
            return writeln!(out, "{head}");
        }
        writeln!(out, "# {}\n", title.lines().next().unwrap_or_default())?;
        writeln!(out, "- session: `{}`", facts.key)?;
        if let Some(cwd) = cwd {
            writeln!(out, "- directory: `{cwd}`")?;
        }
        if let Some(from) = from {
            writeln!(out, "- from {from} to {}", to.unwrap_or_default())?;
        }
        writeln!(out)
    }

    fn event(&self, event: &StoredEvent, out: &mut dyn Write) -> io::Result<()> {
        let mut row = RowStyle::whole().row(event, None);
        for text in [&mut row.text, &mut row.input, &mut row.output, &mut row.path, &mut row.name] {
            if let Some(text) = text
                && let Cow::Owned(clean) = self.clean(text)
            {
                *text = clean;
            }
        }
        if self.format == ExportFormat::JsonLines {
            serde_json::to_writer(&mut *out, &row)?;
            return writeln!(out);
        }
        let words = [Some(heading(event.kind)), row.name.as_deref(), row.path.as_deref()];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        let at = row.at.as_deref().unwrap_or_default();
        writeln!(out, "## {}\n\n<!-- {} {at} -->\n", words.join(" "), row.seq)?;
        for text in [&row.text, &row.input, &row.output].into_iter().flatten() {
            match event.kind {
                EventKind::Prompt
                | EventKind::Message
                | EventKind::Reasoning
                | EventKind::Plan
                | EventKind::Compaction
                | EventKind::Task => writeln!(out, "{}\n", text.trim_end())?,
                EventKind::ToolCall
                | EventKind::ToolResult
                | EventKind::FileEdit
                | EventKind::Marker
                | EventKind::Context
                | EventKind::Unknown => fenced(text, out)?,
            }
        }
        Ok(())
    }
}

const fn heading(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Prompt => "Prompt",
        EventKind::Message => "Answer",
        EventKind::Reasoning => "Reasoning",
        EventKind::ToolCall => "Call",
        EventKind::ToolResult => "Result",
        EventKind::FileEdit => "Edit",
        EventKind::Plan => "Plan",
        EventKind::Compaction => "Summary",
        EventKind::Marker => "Notice",
        EventKind::Task => "Task",
        EventKind::Context => "Context",
        EventKind::Unknown => "Unknown record",
    }
}

/// Text in a fence that is longer than any in it, so that it cannot end it.
fn fenced(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    writeln!(out, "{fence}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_own_fence() {
        let mut out = Vec::new();
        fenced("a\n````\n# not a heading", &mut out).expect("writes");
        let out = String::from_utf8(out).expect("is text");
        assert!(out.starts_with("`````\n") && out.ends_with("\n`````\n\n"), "{out}");
    }
}
