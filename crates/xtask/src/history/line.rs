//! One line of JSON, put together from left to right.

use std::fmt::{self, Write as _};

/// A line under construction. The caller writes the structure; texts are quoted here.
#[derive(Default)]
pub(crate) struct Line {
    text: String,
}

impl Line {
    /// Empties it, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
    }

    /// Adds JSON as it is.
    pub(crate) fn raw(&mut self, json: &str) -> &mut Self {
        self.text.push_str(json);
        self
    }

    /// Adds JSON as it is, formatted.
    pub(crate) fn put(&mut self, json: fmt::Arguments<'_>) -> &mut Self {
        let _ = self.text.write_fmt(json);
        self
    }

    /// Adds `text` as a JSON string.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.text.push('"');
        escape(text, &mut self.text);
        self.text.push('"');
        self
    }

    /// Adds `text` as the inner part of a JSON string.
    pub(crate) fn part(&mut self, text: &str) -> &mut Self {
        escape(text, &mut self.text);
        self
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Adds `text` to `to` as it stands inside a JSON string.
fn escape(text: &str, to: &mut String) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        to.push_str(&text[done..at]);
        done = at + 1;
        match byte {
            b'\n' => to.push_str("\\n"),
            b'\t' => to.push_str("\\t"),
            b'\r' => to.push_str("\\r"),
            b'"' => to.push_str("\\\""),
            b'\\' => to.push_str("\\\\"),
            _ => {
                let _ = write!(to, "\\u{byte:04x}");
            }
        }
    }
    to.push_str(&text[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_escaped_and_no_more_than_it_needs() {
        for (text, expected) in [
            ("plain, ünï", "\"plain, ünï\""),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\n\t\r\u{1b}[0m", r#""\n\t\r\u001b[0m""#),
            ("", "\"\""),
        ] {
            let mut line = Line::default();
            assert_eq!(line.string(text).as_str(), expected);
        }
    }
}
