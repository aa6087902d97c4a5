//! Strings and content as Codex writes them, read without copying where that is possible.

use std::borrow::Cow;

use super::json::{Json, Malformed};

/// The text of a string, or `""` if there is none.
pub(super) fn text(string: Option<Json<'_>>) -> Result<Cow<'_, str>, Malformed> {
    string.map_or(Ok(Cow::Borrowed("")), Json::string)
}

/// The text of a value: a string's own, and JSON as it stands of everything else.
pub(super) fn loose(value: Option<Json<'_>>) -> Result<Cow<'_, str>, Malformed> {
    let Some(value) = value else {
        return Ok(Cow::Borrowed(""));
    };
    match value.as_str() {
        json if json.starts_with('"') => value.string(),
        json => Ok(Cow::Borrowed(json)),
    }
}

/// The `type` of a JSON object, which Codex writes first.
pub(super) fn tag(object: Json<'_>) -> Option<Cow<'_, str>> {
    let [tag] = object.fields(["type"]).ok()?;
    tag?.string().ok()
}

/// The beginning of `text`, at most `max_bytes` of it.
pub(super) fn beginning(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
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

/// Reads one piece of a message's content.
fn piece(part: Json<'_>) -> Result<Piece<'_>, Malformed> {
    let names = ["type", "text", "image_url", "path", "mimeType"];
    let [tag, words, image_url, path, mime_type] = part.fields(names)?;
    if let Some(words) = words {
        let words = words.string()?;
        let is_wrapper = words.starts_with("<image name=") || words == "</image>";
        return Ok(if is_wrapper { Piece::Wrapper } else { Piece::Words(words) });
    }
    Ok(Piece::Note(match &*text(tag)? {
        "input_image" | "image" | "local_image" | "localImage" => {
            let at = image_url.or(path).map_or("", Json::as_str).trim_matches('"');
            if at.is_empty() { image_note(&text(mime_type)?) } else { image_note(at) }
        }
        "encrypted_content" => "[sealed content]".to_owned(),
        tag => format!("[{}]", beginning(tag, 40)),
    }))
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
pub(super) fn content(value: Option<Json<'_>>) -> Result<Cow<'_, str>, Malformed> {
    let Some(pieces) = pieces(value) else {
        return loose(value);
    };
    let mut out = Cow::Borrowed("");
    for piece in pieces {
        let words = match piece {
            Piece::Words(words) => words,
            Piece::Note(note) => Cow::Owned(note),
            Piece::Wrapper => continue,
        };
        if out.is_empty() {
            out = words;
        } else {
            push_line(out.to_mut(), &words);
        }
    }
    Ok(out)
}

/// The pieces of content that is a list of them. `None` if it is something else, or if its items
/// have another shape: it is then shown as it stands.
pub(super) fn pieces(value: Option<Json<'_>>) -> Option<Vec<Piece<'_>>> {
    let parts = value?.items().ok()?;
    parts.into_iter().map(|it| piece(it).ok()).collect()
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

    fn value(json: &str) -> Json<'_> {
        Json::parse(json).expect("is JSON")
    }

    #[test]
    fn content_is_read_in_all_its_forms() {
        let table = [
            (r#""plain""#, "plain"),
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
            assert_eq!(content(Some(value(json))).as_deref(), Ok(expected), "{json}");
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
            assert_eq!(tag(value(json)).as_deref(), expected, "{json}");
        }
    }
}
