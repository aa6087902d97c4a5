//! Events as rows of an answer: bounded, without secrets, and with nothing hidden.

use std::borrow::Cow;

use ai_hist_model::{Author, EventBody, Timestamp};
use ai_hist_redact::Redactor;
use ai_hist_store::StoredEvent;
use serde::Serialize;

use crate::{
    limits::{
        MAX_LOOK_BYTES, MAX_NAME_BYTES, MAX_OUTPUT_BYTES, MAX_SQUEEZED_BYTES, MAX_WORDS_BYTES,
    },
    quote::quoted,
};

/// What the mark of a cut may add to a text.
const MARK_BYTES: usize = 160;

/// An event, or a tool call with its result, as an answer shows it. Absent fields are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Row {
    /// Its number in the session, from 0.
    pub seq: u64,
    /// Its kind.
    pub kind: &'static str,
    /// When it happened: RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The model that spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool, the marker or the unknown kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The changed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was done to it: `create`, `update`, `delete`, `move`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'static str>,
    /// The words; the difference of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What a tool was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// What it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// How it went: `success`, `failure`, `unstated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The number of the event that holds the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_seq: Option<u64>,
    /// Whether a text was cut; the cut is marked in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// How long the texts of a row may be, and what hides its secrets.
#[derive(Debug, Clone, Copy)]
pub struct RowStyle<'a> {
    redactor: Option<&'a Redactor>,
    words_bytes: usize,
    output_bytes: usize,
}

impl<'a> RowStyle<'a> {
    /// For an answer to an agent: bounded, secrets replaced.
    #[must_use]
    pub const fn for_agents(redactor: &'a Redactor) -> Self {
        Self {
            redactor: Some(redactor),
            words_bytes: MAX_WORDS_BYTES,
            output_bytes: MAX_OUTPUT_BYTES,
        }
    }

    /// For the user himself: whole.
    #[must_use]
    pub const fn whole() -> Self {
        Self { redactor: None, words_bytes: usize::MAX, output_bytes: usize::MAX }
    }

    /// As short as it gets.
    #[must_use]
    pub(crate) const fn squeezed(self) -> Self {
        Self { words_bytes: MAX_SQUEEZED_BYTES, output_bytes: MAX_SQUEEZED_BYTES, ..self }
    }

    /// `event`, with the `result` that goes with it.
    #[must_use]
    pub fn row(&self, event: &StoredEvent, result: Option<&StoredEvent>) -> Row {
        let mut row = Row {
            seq: event.seq,
            kind: event.kind.as_str(),
            at: event.at.and_then(time),
            model: match &event.author {
                Author::Model { name } => name.as_deref().map(|it| self.name(it)),
                Author::Person | Author::Tool | Author::Agent | Author::Harness => None,
            },
            ..Row::default()
        };
        self.fill(&mut row, event);
        if let Some(result) = result
            && let EventBody::ToolResult { outcome, output, .. } = &result.body
        {
            row.outcome = Some(outcome.as_str());
            row.result_seq = Some(result.seq);
            row.output = Some(self.output(output, result.seq, &mut row.truncated));
        }
        row
    }

    fn fill(&self, row: &mut Row, event: &StoredEvent) {
        let seq = event.seq;
        match &event.body {
            EventBody::Message { text }
            | EventBody::Reasoning { text }
            | EventBody::Plan { text }
            | EventBody::Compaction { summary: text } => {
                row.text = Some(self.words(text, seq, &mut row.truncated));
            }
            EventBody::Marker { name, text } | EventBody::Unknown { kind: name, text } => {
                row.name = Some(self.name(name));
                row.text = Some(self.output(text, seq, &mut row.truncated));
            }
            EventBody::ToolCall { tool, input, .. } => {
                row.name = Some(self.name(tool));
                row.input = Some(self.output(input, seq, &mut row.truncated));
            }
            EventBody::ToolResult { outcome, output, .. } => {
                row.outcome = Some(outcome.as_str());
                row.output = Some(self.output(output, seq, &mut row.truncated));
            }
            EventBody::FileEdit { path, change, diff, .. } => {
                row.path = Some(self.name(path));
                row.change = Some(change.as_str());
                row.text = Some(self.output(diff, seq, &mut row.truncated));
            }
        }
    }

    /// A name, a path, a title: short, and cut at its end if it is not.
    #[must_use]
    pub fn name(&self, text: &str) -> String {
        if self.redactor.is_none() {
            return text.to_owned();
        }
        let clean = self.clean(head(text, MAX_LOOK_BYTES));
        if clean.len() <= MAX_NAME_BYTES {
            return clean.into_owned();
        }
        format!("{}…", head(&clean, MAX_NAME_BYTES))
    }

    /// People's and models' words.
    #[must_use]
    pub fn words(&self, text: &str, seq: u64, truncated: &mut bool) -> String {
        self.cut(text, self.words_bytes, seq, truncated)
    }

    fn output(&self, text: &str, seq: u64, truncated: &mut bool) -> String {
        self.cut(text, self.output_bytes, seq, truncated)
    }

    /// `text` in at most about `max` bytes: its beginning and its end, with a mark between that
    /// says what is missing and where it is to be had.
    fn cut(&self, text: &str, max: usize, seq: u64, truncated: &mut bool) -> String {
        let mut room = max;
        loop {
            let shown = self.cut_raw(text, room, seq, truncated);
            // What is made visible grows, up to eight times.
            if shown.len() <= max.saturating_add(MARK_BYTES) || room < 16 {
                return shown;
            }
            room = (room.min(text.len()) * max / shown.len()).min(room / 2);
        }
    }

    fn cut_raw(&self, text: &str, max: usize, seq: u64, truncated: &mut bool) -> String {
        if text.len() <= max {
            return self.clean(text).into_owned();
        }
        *truncated = true;
        let first = head(text, max / 3 * 2);
        let last = tail(text, max / 3);
        let n_missing = text.len() - first.len() - last.len();
        // What is shown is cleaned with what stands next to it, so that a secret across the cut
        // is recognised.
        let first_clean = self.clean_head(text, first.len());
        let last_clean = self.clean_tail(text, last.len());
        format!(
            "{first_clean}\n[… {n_missing} bytes left out; get_session_events(event={seq}, \
             offset={}) gives them …]\n{last_clean}",
            first.len()
        )
    }

    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let redacted = match self.redactor {
            Some(redactor) => redactor.redact(text).text,
            None => return Cow::Borrowed(text),
        };
        match redacted {
            Cow::Borrowed(text) => quoted(text),
            Cow::Owned(text) => Cow::Owned(quoted(&text).into_owned()),
        }
    }

    fn clean_head(&self, text: &str, n_bytes: usize) -> String {
        let Some(redactor) = self.redactor else {
            return text[..n_bytes].to_owned();
        };
        let look = head(text, (n_bytes + MAX_LOOK_BYTES).min(text.len()));
        redacted_part(redactor, look, 0, n_bytes)
    }

    fn clean_tail(&self, text: &str, n_bytes: usize) -> String {
        let Some(redactor) = self.redactor else {
            return text[text.len() - n_bytes..].to_owned();
        };
        let look = tail(text, (n_bytes + MAX_LOOK_BYTES).min(text.len()));
        redacted_part(redactor, look, look.len() - n_bytes, look.len())
    }
}

/// The bytes `from..to` of `text`, with the secrets in it replaced, also those that begin or end
/// outside.
fn redacted_part(redactor: &Redactor, text: &str, from: usize, to: usize) -> String {
    let mut out = String::with_capacity(to - from);
    let mut at = from;
    for finding in redactor.redact(text).findings {
        let (start, end) = (finding.range.start.max(from), finding.range.end.min(to));
        if end <= start || end <= at {
            continue;
        }
        out.push_str(&quoted(&text[at..start.max(at)]));
        out.push_str("[redacted:");
        out.push_str(finding.rule);
        out.push(']');
        at = end;
    }
    out.push_str(&quoted(&text[at..to]));
    out
}

/// A stretch of `text` from byte `offset` on, without secrets: what it shows, and where the next
/// one begins.
#[must_use]
pub fn slice(
    redactor: &Redactor,
    text: &str,
    offset: usize,
    max_bytes: usize,
) -> (String, Option<usize>) {
    let from = text.floor_char_boundary(offset.min(text.len()));
    let mut to = text.floor_char_boundary((from + max_bytes.max(4)).min(text.len()));
    if to == from && from < text.len() {
        to = text.ceil_char_boundary(from + 1);
    }
    let look_from = text.floor_char_boundary(from.saturating_sub(MAX_LOOK_BYTES));
    let look_to = text.floor_char_boundary((to + MAX_LOOK_BYTES).min(text.len()));
    let look = &text[look_from..look_to.max(to)];
    let shown = redacted_part(redactor, look, from - look_from, to - look_from);
    (shown, (to < text.len()).then_some(to))
}

fn head(text: &str, n_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(n_bytes.min(text.len()))]
}

fn tail(text: &str, n_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len() - n_bytes.min(text.len()))..]
}

/// A point in time as RFC 3339 in UTC; `None` if it is beyond the calendar.
#[must_use]
pub fn time(at: Timestamp) -> Option<String> {
    jiff::Timestamp::from_millisecond(at.0).ok().map(|it| it.to_string())
}
