//! Content blocks as text. What is not text becomes a note in brackets: no base64 is ever given on.

use std::{borrow::Cow, fmt::Write as _};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    record::{Block, Content},
    scalar::Scalar,
};

/// The text of a tool's answer.
pub(super) fn text(content: &Content<'_>) -> String {
    match content {
        Content::Absent => String::new(),
        Content::Words(text) => text.clone().into_owned(),
        Content::Blocks(blocks) => {
            let mut texts = blocks.iter().filter_map(block);
            let mut together = texts.next().unwrap_or_default().into_owned();
            for text in texts {
                together.push('\n');
                together.push_str(&text);
            }
            together
        }
    }
}

/// The text of one block; `None` if it has none.
pub(super) fn block<'b>(block: &'b Block<'_>) -> Option<Cow<'b, str>> {
    let kind = block.kind.words().unwrap_or("block");
    match kind {
        "text" => block.text.words().map(Cow::Borrowed),
        "tool_reference" => {
            let name = block.tool_name.words().or(block.name.words()).unwrap_or_default();
            Some(Cow::Owned(format!("[tool {name}]")))
        }
        _ => {
            if let Some(source) = block.source {
                return Some(Cow::Owned(binary(kind, source)));
            }
            if let Some(text) = block.text.words() {
                return Some(Cow::Borrowed(text));
            }
            let words = [block.title.words(), block.url.words()];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            let space = if words.is_empty() { "" } else { " " };
            Some(Cow::Owned(format!("[{kind}{space}{}]", words.join(" "))))
        }
    }
}

/// A note in place of `source`: `[image image/png, 1234 bytes]`.
fn binary(kind: &str, source: &RawValue) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Source<'a> {
        #[serde(borrow)]
        media_type: Scalar<'a>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
        #[serde(borrow)]
        url: Scalar<'a>,
    }
    let source: Source<'_> = serde_json::from_str(source.get()).unwrap_or_default();
    let mut note = format!("[{kind}");
    if let Some(what) = source.media_type.words().or(source.url.words()) {
        note.push(' ');
        note.push_str(what);
    }
    if let Some(data) = source.data {
        let _ = write!(note, ", {} bytes", n_decoded_bytes(data));
    }
    note.push(']');
    note
}

/// How many bytes a base64 string stands for.
pub(super) fn n_decoded_bytes(data: &RawValue) -> usize {
    data.get().trim_matches('"').trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_becomes_a_note() {
        let table = [
            (r#""plain""#, "plain"),
            (r#"[{"type":"text","text":"a"},"b",{"type":"text","text":""}]"#, "a\nb"),
            (
                r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAAAA=="}}]"#,
                "[image image/png, 4 bytes]",
            ),
            (r#"[{"type":"image","source":"x"}]"#, "[image]"),
            (
                r#"[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]"#,
                "[document https://example.com/a.pdf]",
            ),
            (r#"[{"type":"tool_reference","tool_name":"Read"}]"#, "[tool Read]"),
            (
                r#"[{"type":"web_search_result","title":"T","url":"https://example.com","encrypted_content":"x"}]"#,
                "[web_search_result T https://example.com]",
            ),
            (r#"[7,null,{"type":"new_thing"}]"#, "[block]\n[block]\n[new_thing]"),
            (r"7", ""),
        ];
        for (json, expected) in table {
            let content: Content<'_> = serde_json::from_str(json).expect("parses");
            assert_eq!(text(&content), expected, "{json}");
        }
    }
}
