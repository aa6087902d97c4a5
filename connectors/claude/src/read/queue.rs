//! The queue of prompts that the person typed while the agent worked.
//!
//! A prompt that leaves the queue becomes a user record, or from 2.1.90 on an attachment, and the
//! queue's own records repeat it. Before that version one that was taken up in the middle of a turn
//! (`remove`) became neither: then the queue's record is all there is of it.

use std::borrow::Cow;

use ai_hist_connector::jsonl;
use memchr::memmem;
use serde::Deserialize;

use super::{
    earlier::Earlier,
    prompt::Marks,
    record::Meta,
    scalar::Scalar,
    scribe::{Fate, Line, Part, Scribe},
    user,
};

pub(super) const KIND: &str = "queue-operation";

/// The version from which on a prompt that leaves the queue stands elsewhere too.
const ELSEWHERE_TOO: [u64; 3] = [2, 1, 90];

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>, record: &Meta<'_>) -> Fate {
    let ignored = Fate::Ignored(Cow::Borrowed(KIND));
    if record.operation.words() != Some("remove") {
        return ignored;
    }
    let Some(text) = only_here(&scribe.earlier, line.span.first_byte) else {
        return ignored;
    };
    match user::speech_with(scribe, line, Part::WHOLE, &text, Marks::default()) {
        Fate::Understood(_) => Fate::Understood(Cow::Borrowed(KIND)),
        Fate::Ignored(_) | Fate::Unknown(_) | Fate::Damaged(_) => ignored,
    }
}

/// The prompt that leaves the queue at byte `end`, if it stands nowhere else.
fn only_here(earlier: &Earlier, end: u64) -> Option<String> {
    let before = earlier.queue(end);
    let version = last_version(&before)?;
    if ELSEWHERE_TOO <= version {
        return None;
    }
    waiting(&before).pop()
}

/// What waits in the queue after the records in `bytes`.
fn waiting(bytes: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Operation<'a> {
        #[serde(borrow, default)]
        operation: Scalar<'a>,
        #[serde(borrow, default)]
        content: Scalar<'a>,
    }
    let mut waiting: Vec<String> = Vec::new();
    let lead = b"{\"type\":\"queue-operation\"";
    for line in bytes.split(|it| *it == b'\n').filter(|it| it.starts_with(lead)) {
        let text = jsonl::text(line);
        let Ok(operation) = serde_json::from_str::<Operation<'_>>(&text) else {
            continue;
        };
        match operation.operation.words() {
            Some("enqueue") => {
                waiting.push(operation.content.words().unwrap_or_default().to_owned());
            }
            Some("dequeue") if !waiting.is_empty() => {
                waiting.remove(0);
            }
            Some("remove") => {
                waiting.pop();
            }
            Some("popAll") => waiting.clear(),
            Some(_) | None => {}
        }
    }
    waiting
}

/// The agent's version by the last record in `bytes` that says it.
fn last_version(bytes: &[u8]) -> Option<[u64; 3]> {
    let lead = b"\"version\":\"";
    let first = memmem::rfind(bytes, lead)? + lead.len();
    let last = first + memchr::memchr(b'"', &bytes[first..])?;
    let mut numbers = std::str::from_utf8(&bytes[first..last]).ok()?.split('.');
    let mut number = || numbers.next()?.parse().ok();
    Some([number()?, number()?, number()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_last_leaves_first_in_the_middle_of_a_turn() {
        let operation = |operation: &str, content: &str| {
            format!(
                "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",\"content\":\"{content}\"}}\n"
            )
        };
        let table = [
            ("", ""),
            ("enqueue a, enqueue b", "a b"),
            ("enqueue a, enqueue b, dequeue", "b"),
            ("enqueue a, enqueue b, remove", "a"),
            ("enqueue a, popAll, dequeue, remove", ""),
        ];
        for (operations, expected) in table {
            let lines = operations.split(", ").map(|it| {
                let (name, content) = it.split_once(' ').unwrap_or((it, ""));
                operation(name, content)
            });
            let text = format!("{{}}\n{}", lines.collect::<String>());
            assert_eq!(waiting(text.as_bytes()).join(" "), expected, "{operations}");
        }
    }

    #[test]
    fn the_last_version_counts() {
        let text = b"{\"version\":\"2.1.9\"}\n{\"version\":\"2.1.90\",\"x\":1}\n{}";
        assert_eq!(last_version(text), Some([2, 1, 90]));
        assert_eq!(last_version(b"{\"version\":\"next\"}"), None);
        assert_eq!(last_version(b"{}"), None);
    }
}
