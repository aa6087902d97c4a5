//! A line of the history of prompts.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use ai_hist_connector::model::EventBody;
use serde::Deserialize;

use crate::{
    limits::MAX_PASTE_BYTES,
    read::scalar::{Object, Scalar},
};

/// How the words begin that stand for a pasted text. Its number and more follow.
const PLACEHOLDERS: &[&str] = &["[Pasted text #", "[...Truncated text #"];

/// A prompt as the person typed it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(borrow)]
    pub(super) display: Scalar<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Scalar<'a>,
    #[serde(borrow)]
    pub(super) project: Scalar<'a>,
    #[serde(borrow)]
    pub(super) session_id: Scalar<'a>,
    #[serde(borrow)]
    pasted_contents: Object<BTreeMap<Cow<'a, str>, Object<Pasted<'a>>>>,
}

/// What was pasted: in the line, or if it is long in a file that is named after its hash.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Pasted<'a> {
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    content_hash: Scalar<'a>,
}

/// The folder of long pasted texts.
#[derive(Debug)]
pub(super) struct Pastes(PathBuf);

/// A pasted text and the number by which the prompt refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Paste {
    number: u64,
    text: String,
}

impl Pastes {
    /// The one beside the history `path`.
    pub(super) fn beside(path: &Path) -> Self {
        Self(path.with_file_name("paste-cache"))
    }

    /// The texts that were pasted into a prompt, as far as they are still there.
    pub(super) fn of(&self, entry: &Entry<'_>) -> Vec<Paste> {
        let contents = entry.pasted_contents.0.iter().flatten();
        let texts = contents.filter_map(|(number, pasted)| {
            let pasted = pasted.0.as_ref().filter(|it| it.kind.words() != Some("image"))?;
            let text = match pasted.content.words() {
                Some(text) => text.to_owned(),
                None => self.kept(pasted.content_hash.words()?)?,
            };
            Some(Paste { number: number.parse().ok()?, text })
        });
        texts.collect()
    }

    fn kept(&self, hash: &str) -> Option<String> {
        if !hash.bytes().all(|it| it.is_ascii_alphanumeric()) {
            return None;
        }
        let file = File::open(self.0.join(format!("{hash}.txt"))).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_PASTE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What the person did by typing `words`: gave a prompt, or a command to the program.
pub(super) fn body(words: &str, pastes: &[Paste]) -> EventBody {
    let marker = |name: &str, text| EventBody::Marker { name: name.to_owned(), text };
    let text = with_pastes(words, pastes);
    if let Some(command) = text.trim().strip_prefix('!') {
        return marker("shell", command.trim().to_owned());
    }
    if is_command(&text) { marker("command", text) } else { EventBody::Message { text } }
}

/// Whether `text` begins with the name of a command, and not with a path.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('/') else {
        return false;
    };
    let name = rest.split_whitespace().next().unwrap_or_default();
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_:".contains(&it);
    rest.starts_with(name) && !name.is_empty() && name.bytes().all(is_plain)
}

/// `words` with each pasted text after the place that stands for it; at the end, if none does.
fn with_pastes(words: &str, pastes: &[Paste]) -> String {
    let mut text = String::with_capacity(words.len());
    let mut rest = words;
    let mut is_told = vec![false; pastes.len()];
    while let Some((end, number)) = placeholder(rest) {
        text.push_str(&rest[..end]);
        rest = &rest[end..];
        if let Some(at) = pastes.iter().position(|it| it.number == number) {
            is_told[at] = true;
            text.push('\n');
            text.push_str(&pastes[at].text);
            if !rest.is_empty() && !rest.starts_with('\n') {
                text.push('\n');
            }
        }
    }
    text.push_str(rest);
    for (paste, _) in pastes.iter().zip(is_told).filter(|it| !it.1) {
        text.push('\n');
        text.push_str(&paste.text);
    }
    text
}

/// The end of the first placeholder in `text`, and its number.
fn placeholder(text: &str) -> Option<(usize, u64)> {
    let begin = |lead: &&str| Some((text.find(*lead)?, lead.len()));
    let (at, n_lead) = PLACEHOLDERS.iter().filter_map(begin).min()?;
    let first = at + n_lead;
    let n_digits = text[first..].bytes().take_while(u8::is_ascii_digit).count();
    let end = first + text[first..].find(']').map_or(n_digits, |it| it + 1);
    // One without a number stands for nothing, and is passed over.
    Some((end, text[first..first + n_digits].parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_text_follows_what_stands_for_it() {
        let paste = |number, text: &str| Paste { number, text: text.to_owned() };
        let pastes = [paste(1, "one"), paste(2, "two")];
        let table = [
            ("[Pasted text #1 +16 lines]", "[Pasted text #1 +16 lines]\none\ntwo"),
            (
                "see [Pasted text #2] and [Pasted text #1] here",
                "see [Pasted text #2]\ntwo\n and [Pasted text #1]\none\n here",
            ),
            (
                "a [...Truncated text #2 +9 lines...] z [Pasted text #1]",
                "a [...Truncated text #2 +9 lines...]\ntwo\n z [Pasted text #1]\none",
            ),
            ("[Pasted text #3]", "[Pasted text #3]\none\ntwo"),
            ("[Pasted text #] é [Pasted text #", "[Pasted text #] é [Pasted text #\none\ntwo"),
        ];
        for (words, expected) in table {
            assert_eq!(with_pastes(words, &pastes), expected, "`{words}`");
        }
    }

    #[test]
    fn a_command_is_no_prompt_and_a_path_is_no_command() {
        let table = [
            ("/login", "command"),
            ("/mcp:server do it", "command"),
            ("/compact keep the decision", "command"),
            ("!ls -l", "shell"),
            ("/usr/local/bin fails", ""),
            ("/ is the root", ""),
            ("# a heading", ""),
            ("fix it", ""),
        ];
        for (words, expected) in table {
            let body = body(words, &[]);
            let is_message = matches!(body, EventBody::Message { .. });
            assert_eq!(is_message, expected.is_empty(), "`{words}`");
            if let EventBody::Marker { name, .. } = body {
                assert_eq!(name, expected, "`{words}`");
            }
        }
    }

    #[test]
    fn a_line_of_another_shape_loses_only_what_is_of_another_shape() {
        let table = [
            r#"{"display":"x","pastedContents":[]}"#,
            r#"{"display":"x","pastedContents":{"1":null,"a":{"type":"text","content":"y"}}}"#,
            r#"{"display":"x","pastedContents":{"1":{"type":"image","content":"AAAA"}}}"#,
            r#"{"display":"x","pastedContents":{"1":{"type":"text","contentHash":"../../x"}}}"#,
            r#"{"display":"x","timestamp":"soon","sessionId":7}"#,
        ];
        for line in table {
            let entry: Entry<'_> = serde_json::from_str(line).expect("parses");
            assert_eq!(entry.display.words(), Some("x"), "{line}");
            assert_eq!(Pastes(PathBuf::from("/nowhere")).of(&entry), [], "{line}");
        }
    }
}
