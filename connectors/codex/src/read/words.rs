//! Strings and content as Codex writes them, read without copying where that is possible.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Error, value::RawValue};

/// A string that borrows from the record unless it has escapes. (An `Option<Cow<str>>` never
/// borrows.)
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The text of a string, or of `""` if there is none.
pub(super) fn text(string: Option<Str<'_>>) -> Cow<'_, str> {
    string.map_or(Cow::Borrowed(""), |it| it.0)
}

/// The text of a value: a string's own, and JSON as it stands of everything else.
pub(super) fn loose(value: Option<&RawValue>) -> Result<Cow<'_, str>, Error> {
    let Some(value) = value else {
        return Ok(Cow::Borrowed(""));
    };
    match value.get() {
        "null" => Ok(Cow::Borrowed("")),
        json if json.starts_with('"') => Ok(serde_json::from_str::<Str<'_>>(json)?.0),
        json => Ok(Cow::Borrowed(json)),
    }
}

/// The `type` of a JSON object, which Codex writes first.
pub(super) fn tag(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Tagged<'a> {
        #[serde(borrow, rename = "type")]
        tag: Option<Str<'a>>,
    }
    if let Some(rest) = json.strip_prefix("{\"type\":\"")
        && let Some((tag, _)) = rest.split_once('"')
        && !tag.contains('\\')
    {
        return Some(Cow::Borrowed(tag));
    }
    serde_json::from_str::<Tagged<'_>>(json).ok()?.tag.map(|it| it.0)
}

/// The beginning of `text`, at most `max_bytes` of it.
pub(super) fn beginning(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// One piece of a message's content.
#[derive(Debug, Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    tag: Option<Str<'a>>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow, rename = "mimeType")]
    mime_type: Option<Str<'a>>,
}

/// What a piece of content is to us.
pub(super) enum Piece<'a> {
    /// Words.
    Words(Cow<'a, str>),
    /// A note that stands for what is not text.
    Note(String),
    /// The tags that Codex puts around an image for the model.
    Wrapper,
}

impl<'a> Part<'a> {
    pub(super) fn piece(self) -> Piece<'a> {
        let tag = text(self.tag);
        if let Some(Str(words)) = self.text {
            let is_wrapper = words.starts_with("<image name=") || words == "</image>";
            return if is_wrapper { Piece::Wrapper } else { Piece::Words(words) };
        }
        Piece::Note(match &*tag {
            "input_image" | "image" | "local_image" | "localImage" => {
                let at = self.image_url.or(self.path);
                let at = at.map_or("", RawValue::get).trim_matches('"');
                image_note(if at.is_empty() {
                    self.mime_type.as_ref().map_or("", |it| &it.0)
                } else {
                    at
                })
            }
            "encrypted_content" => "[sealed content]".to_owned(),
            tag => format!("[{}]", beginning(tag, 40)),
        })
    }
}

/// What stands for an image: its type if it is inline, else where it is.
pub(super) fn image_note(at: &str) -> String {
    let what = match at.strip_prefix("data:") {
        Some(data) => data.split([';', ',']).next().unwrap_or_default(),
        None => at,
    };
    match beginning(what, 200) {
        "" => "[image]".to_owned(),
        what => format!("[image {what}]"),
    }
}

/// The text of content in any of its forms: a string, pieces, or something else as it stands.
pub(super) fn content(value: Option<&RawValue>) -> Result<Cow<'_, str>, Error> {
    let Some(pieces) = pieces(value)? else {
        return loose(value);
    };
    let mut out = String::new();
    for piece in pieces {
        let words = match &piece {
            Piece::Words(words) => words,
            Piece::Note(note) => note.as_str(),
            Piece::Wrapper => continue,
        };
        push_line(&mut out, words);
    }
    Ok(Cow::Owned(out))
}

/// The pieces of content that is a list of them. `None` if it is something else.
pub(super) fn pieces(value: Option<&RawValue>) -> Result<Option<Vec<Piece<'_>>>, Error> {
    let Some(json) = value.map(RawValue::get).filter(|it| it.starts_with('[')) else {
        return Ok(None);
    };
    match serde_json::from_str::<Vec<Part<'_>>>(json) {
        Ok(parts) => Ok(Some(parts.into_iter().map(Part::piece).collect())),
        // Its items have another shape: it is shown as it stands.
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Appends `words` on a line of their own.
pub(super) fn push_line(out: &mut String, words: &str) {
    if !out.is_empty() && !words.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Option<&RawValue> {
        Some(serde_json::from_str(json).expect("is JSON"))
    }

    #[test]
    fn content_is_read_in_all_its_forms() {
        let table = [
            (r#""plain""#, "plain"),
            ("null", ""),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]"#, "a\nb"),
            (r#"[{"type":"input_text","text":"a\n"},{"type":"input_text","text":"b"}]"#, "a\nb"),
            (
                r#"[{"type":"input_image","image_url":"data:image/png;base64,iVBO"}]"#,
                "[image image/png]",
            ),
            (
                r#"[{"type":"input_image","image_url":"https://e.com/x.png"}]"#,
                "[image https://e.com/x.png]",
            ),
            (r#"[{"type":"image","data":"iVBO","mimeType":"image/webp"}]"#, "[image image/webp]"),
            (r#"[{"type":"local_image","path":"/a/b.png"}]"#, "[image /a/b.png]"),
            (
                r#"[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:image/png;base64,i"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"see"}]"#,
                "[image image/png]\nsee",
            ),
            (r#"[{"type":"encrypted_content","encrypted_content":"x"}]"#, "[sealed content]"),
            (r#"[{"type":"input_audio"}]"#, "[input_audio]"),
            ("[1,2]", "[1,2]"),
        ];
        for (json, expected) in table {
            assert_eq!(content(raw(json)).expect("reads"), expected, "{json}");
        }
    }

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        let table = [
            (r#"{"type":"message","role":"user"}"#, Some("message")),
            (r#"{"role":"user", "type" : "message"}"#, Some("message")),
            (r#"{"type":"a\u0062"}"#, Some("ab")),
            (r#"{"type":1}"#, None),
            ("{}", None),
        ];
        for (json, expected) in table {
            assert_eq!(tag(json).as_deref(), expected, "{json}");
        }
    }
}
