//! User records: prompts, what the program says in the person's name, and tool results.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody, ToolOutcome};

use super::{
    edit, output,
    prompt::{self, Marks, Said},
    record::{Block, Content, Record},
    scribe::{Fate, Line, Part, Scribe},
};

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>) -> Fate {
    let Some(message) = &line.record.message.0 else {
        return Fate::Damaged("a user record without its message".to_owned());
    };
    match &message.content {
        Content::Absent => Fate::Damaged("a message without its content".to_owned()),
        Content::Words(text) => speech(scribe, line, Part::WHOLE, text),
        Content::Blocks(blocks) => parts(scribe, line, blocks),
    }
}

/// Text in the name of the person. Also what stands in an attachment or a system record.
pub(super) fn speech(scribe: &mut Scribe, line: &Line<'_>, part: Part, text: &str) -> Fate {
    speech_with(scribe, line, part, text, marks(line.record))
}

pub(super) fn speech_with(
    scribe: &mut Scribe,
    line: &Line<'_>,
    part: Part,
    text: &str,
    marks: Marks,
) -> Fate {
    let is_of_agent = scribe.session.is_sub_agent() || line.record.is_sidechain.is_true();
    let message = |text: &str| EventBody::Message { text: text.to_owned() };
    match prompt::said(text, marks) {
        Said::Empty => return Fate::Ignored(Cow::Borrowed("user/empty")),
        Said::Caveat => return Fate::Ignored(Cow::Borrowed("user/caveat")),
        Said::Prompt { context, text } => {
            if !context.is_empty() {
                scribe.event(line, part.aspect("context"), Author::Harness, message(context));
            }
            // No person speaks to a sub-agent.
            let author = if is_of_agent { Author::Agent } else { Author::Person };
            scribe.event(line, part, author, message(text));
        }
        Said::Injected => scribe.event(line, part, Author::Harness, message(text)),
        Said::Teammate => scribe.event(line, part, Author::Agent, message(text)),
        Said::Summary => {
            let body = EventBody::Compaction { summary: text.to_owned() };
            scribe.event(line, part, Author::Harness, body);
        }
        Said::Command { name, args } => {
            let text = if args.is_empty() { name.to_owned() } else { format!("{name} {args}") };
            marker_of_person(scribe, line, part, "command", text);
        }
        Said::CommandOutput(text) => scribe.marker(line, part, "command-output", text.to_owned()),
        Said::Shell(text) => marker_of_person(scribe, line, part, "shell", text.to_owned()),
        Said::ShellOutput => {
            let text = ["bash-stdout", "bash-stderr"].map(|tag| prompt::within(text, tag));
            let text: Vec<&str> = text.into_iter().flatten().filter(|it| !it.is_empty()).collect();
            if text.is_empty() {
                return Fate::Ignored(Cow::Borrowed("user/empty"));
            }
            scribe.marker(line, part, "shell-output", text.join("\n"));
        }
        Said::Memory(text) => marker_of_person(scribe, line, part, "memory", text.to_owned()),
        Said::Interrupted => {
            marker_of_person(scribe, line, part, "interrupted", text.trim().to_owned());
        }
    }
    Fate::Understood(Cow::Borrowed("user"))
}

fn marker_of_person(scribe: &mut Scribe, line: &Line<'_>, part: Part, name: &str, text: String) {
    let body = EventBody::Marker { name: name.to_owned(), text };
    scribe.event(line, part, Author::Person, body);
}

fn marks(record: &Record<'_>) -> Marks {
    let origin = record.origin.0.as_ref().and_then(|it| it.kind.words());
    Marks {
        is_summary: record.is_compact_summary.is_true(),
        is_injected: record.is_meta.is_true()
            || origin.is_some_and(|it| it != "human")
            || record.prompt_source.words() == Some("system"),
    }
}

fn parts(scribe: &mut Scribe, line: &Line<'_>, blocks: &[Block<'_>]) -> Fate {
    let mut spoken: Option<(usize, Cow<'_, str>)> = None;
    let mut n_results = 0;
    for (at, block) in blocks.iter().enumerate() {
        if block.kind.words() == Some("tool_result") {
            result(scribe, line, at, block, n_results == 0);
            n_results += 1;
            continue;
        }
        let Some(text) = output::block(block) else {
            continue;
        };
        spoken = Some(match spoken {
            None => (at, text),
            Some((first, mut before)) => {
                let together = before.to_mut();
                together.push('\n');
                together.push_str(&text);
                (first, before)
            }
        });
    }
    let fate = match spoken {
        Some((at, text)) => speech(scribe, line, Part::block(at), &text),
        None => Fate::Ignored(Cow::Borrowed("user/empty")),
    };
    if 0 < n_results { Fate::Understood(Cow::Borrowed("user")) } else { fate }
}

/// A tool's answer. What the record tells of it beside its text is of its first one.
fn result(scribe: &mut Scribe, line: &Line<'_>, at: usize, block: &Block<'_>, is_first: bool) {
    let part = Part::block(at);
    let call = block.tool_use_id.words().unwrap_or_default();
    let failed = block.is_error.is_true();
    let outcome = if failed { ToolOutcome::Failure } else { ToolOutcome::Success };
    let output = output::text(&block.content);
    let told = line.record.tool_use_result.filter(|_| is_first && !failed);
    let edit = match told {
        _ if failed => None,
        Some(told) if told.get().starts_with('{') => edit::of_result(told),
        Some(_) | None => {
            let end = line.span.first_byte;
            edit::of_text(&output, |read| scribe.earlier.call(end, call, read))
        }
    };
    let body = EventBody::ToolResult { call: call.to_owned(), outcome, output };
    scribe.event(line, part, Author::Tool, body);
    if let Some(edit) = edit {
        let body = edit.into_body(call);
        scribe.event(line, part.aspect("edit"), Author::Tool, body);
    }
    let Scribe { tasks, earlier, .. } = scribe;
    if let Some(text) = told.and_then(|it| tasks.after(it, line.span.first_byte, earlier)) {
        scribe.event(line, part.aspect("plan"), Author::Tool, EventBody::Plan { text });
    }
}
