//! Kinds of records that hold nothing of their own, told from the beginning of the line.
//!
//! They are most of a transcript's bytes: copies of prompts, of the system prompt, of tool
//! schemas, of a command's output while it runs. So they are recognized without being parsed.

use std::{borrow::Cow, sync::LazyLock};

use memchr::memmem;

use super::queue;

/// Kinds of meta records.
const META: &[&str] = &[
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "bridge-session",
    "content-replacement",
    "cost-state",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "mode",
    "permission-mode",
    "tools-used",
];

/// Kinds of attachments: what the agent program tells the model about itself and its surroundings,
/// again in every session and after every compaction.
const ATTACHMENTS: &[&str] = &[
    "attachment/agent_listing_delta",
    "attachment/already_read_file",
    "attachment/auto_mode",
    "attachment/auto_mode_exit",
    "attachment/budget_usd",
    "attachment/command_permissions",
    "attachment/compact_file_reference",
    "attachment/compaction_reminder",
    "attachment/companion_intro",
    "attachment/context_efficiency",
    "attachment/critical_system_reminder",
    "attachment/current_session_memory",
    "attachment/date",
    "attachment/date_change",
    "attachment/deferred_tools_delta",
    "attachment/deferred_tools_record",
    "attachment/dynamic_skill",
    "attachment/environment",
    "attachment/hook_cancelled",
    "attachment/invoked_skills",
    "attachment/mcp_instructions_delta",
    "attachment/model",
    "attachment/nested_memory",
    "attachment/output_style",
    "attachment/output_token_usage",
    "attachment/plan_mode",
    "attachment/plan_mode_exit",
    "attachment/plan_mode_reentry",
    "attachment/prompt_snapshot",
    "attachment/relevant_memories",
    "attachment/remote_session_change",
    "attachment/session_context",
    "attachment/silent_turn_reminder",
    "attachment/skill_discovery",
    "attachment/skill_listing",
    "attachment/structured_output",
    "attachment/task_reminder",
    "attachment/team_context",
    "attachment/todo_reminder",
    "attachment/token_usage",
    "attachment/total_tokens_reminder",
    "attachment/ultra_effort_enter",
    "attachment/ultra_effort_exit",
    "attachment/ultrathink_effort",
    "attachment/verify_plan_reminder",
];

/// How far the type of an attachment stands from the beginning of its line: behind two or three
/// ids. Farther away a match may be a part of something else.
const ATTACHMENT_HEAD_BYTES: usize = 256;

/// The same of a progress record, which has the working directory and more before it.
const PROGRESS_HEAD_BYTES: usize = 1024;

type Lead = LazyLock<memmem::Finder<'static>>;

static ATTACHMENT_LEAD: Lead = LazyLock::new(|| memmem::Finder::new("\"attachment\":{\"type\":\""));

static PROGRESS_LEAD: Lead =
    LazyLock::new(|| memmem::Finder::new("\"type\":\"progress\",\"data\":{\"type\":\""));

/// The kind of the record in `line` if it holds nothing of its own and says so at its beginning.
/// `None` says nothing: such a record may also begin in another way.
///
/// A quotation mark inside a JSON string is escaped, so no text of a person can look like this.
pub(super) fn of_no_content(line: &str) -> Option<Cow<'static, str>> {
    if !line.ends_with('}') {
        return None;
    }
    if let Some(rest) = line.strip_prefix("{\"type\":\"") {
        let kind = &rest[..rest.find('"')?];
        // All but one kind of operation repeat a prompt, or say nothing of it.
        if kind == queue::KIND && !rest.contains("\"operation\":\"remove\"") {
            return Some(Cow::Borrowed(queue::KIND));
        }
        return meta_of_no_content(kind).map(Cow::Borrowed);
    }
    let bytes = line.as_bytes();
    let head = &bytes[..bytes.len().min(ATTACHMENT_HEAD_BYTES)];
    if let Some(kind) = word_after(bytes, head, &ATTACHMENT_LEAD) {
        return attachment_of_no_content(kind).map(Cow::Borrowed);
    }
    let head = &bytes[..bytes.len().min(PROGRESS_HEAD_BYTES)];
    let kind = word_after(bytes, head, &PROGRESS_LEAD)?;
    Some(progress(kind))
}

/// `kind`, if meta records of it hold nothing of their own.
pub(super) fn meta_of_no_content(kind: &str) -> Option<&'static str> {
    META.iter().find(|it| **it == kind).copied()
}

/// The full name of `kind`, if attachments of it hold nothing of their own.
pub(super) fn attachment_of_no_content(kind: &str) -> Option<&'static str> {
    let is_it = |name: &&&str| name.strip_prefix("attachment/") == Some(kind);
    ATTACHMENTS.iter().find(is_it).copied()
}

/// The full name of a kind of progress. All of it is ignored: a command's output so far, and
/// copies of what sub-agents write into their own transcripts.
pub(super) fn progress(kind: &str) -> Cow<'static, str> {
    match kind {
        "agent_progress" => Cow::Borrowed("progress/agent_progress"),
        "bash_progress" => Cow::Borrowed("progress/bash_progress"),
        "hook_progress" => Cow::Borrowed("progress/hook_progress"),
        "mcp_progress" => Cow::Borrowed("progress/mcp_progress"),
        other => Cow::Owned(format!("progress/{other}")),
    }
}

/// The word that follows `lead` in `head`, unless a message begins before it.
fn word_after<'a>(bytes: &'a [u8], head: &[u8], lead: &Lead) -> Option<&'a str> {
    let at = lead.find(head)?;
    if memmem::find(&head[..at], b"\"message\":").is_some() {
        return None;
    }
    let rest = &bytes[at + lead.needle().len()..];
    let end = memchr::memchr(b'"', rest)?;
    std::str::from_utf8(&rest[..end]).ok().filter(|it| !it.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_structure_of_a_line_tells_its_kind() {
        let table = [
            (r#"{"type":"api-request-blob","message":{}}"#, Some("api-request-blob")),
            (r#"{"type":"api-request-blob","message":{"#, None),
            (r#"{"type":"queue-operation","operation":"dequeue"}"#, Some("queue-operation")),
            (r#"{"type":"queue-operation","operation":"remove"}"#, None),
            (r#"{"type":"user","x":{"type":"mode"}}"#, None),
            (r#"{"parentUuid":null,"attachment":{"type":"date"}}"#, Some("attachment/date")),
            (r#"{"parentUuid":null,"attachment":{"type":"file"}}"#, None),
            (r#"{"message":{},"attachment":{"type":"date"}}"#, None),
            (r#"{"a":"\"attachment\":{\"type\":\"date\"}"}"#, None),
            (r#"{"cwd":"/","type":"progress","data":{"type":"x_y"}}"#, Some("progress/x_y")),
            (r#"{"type":"progress","data":{"type":"x"}}"#, None),
            ("{}", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(of_no_content(line).as_deref(), expected, "`{line}`");
        }
    }

    #[test]
    fn the_names_are_in_order_and_once() {
        for names in [META, ATTACHMENTS] {
            assert!(names.is_sorted_by(|a, b| a < b));
        }
    }
}
