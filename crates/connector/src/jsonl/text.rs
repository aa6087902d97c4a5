//! From a line's bytes to text that a JSON parser takes.

use std::{borrow::Cow, fmt::Write as _};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text of a line: without a byte order mark, a carriage return at its end and runs of NUL at
/// either end (a file system leaves those after a power cut), and with invalid UTF-8 replaced.
///
/// An empty text is a blank line.
#[must_use]
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = bytes.iter().position(|it| !is_padding(it)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|it| !is_padding(it)).map_or(start, |it| it + 1);
    let bytes = &bytes[start..end];
    // Valid text, which nearly all is, is recognised several times faster this way.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// `text` with what strict JSON parsers refuse and lenient writers produce put right: lone
/// surrogate escapes (`\ud83d` alone) become U+FFFD, raw control characters become escapes.
/// `None` if there was nothing to repair.
#[must_use]
pub fn repair(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    let mut in_string = false;
    let mut rest = text;
    while let Some(at) = rest.find(|it: char| it == '"' || it == '\\' || it.is_ascii_control()) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let used = match tail.as_bytes()[0] {
            b'"' => {
                in_string = !in_string;
                out.push('"');
                1
            }
            b'\\' => {
                let (written, used, was_lone) = escape(tail);
                out.push_str(written);
                changed |= was_lone;
                used
            }
            control if in_string => {
                let _ = write!(out, "\\u{control:04x}");
                changed = true;
                1
            }
            control => {
                out.push(char::from(control));
                1
            }
        };
        rest = &tail[used..];
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// One escape at the head of `tail`: what to write, how many bytes it had, whether it was a lone
/// surrogate.
fn escape(tail: &str) -> (&str, usize, bool) {
    let Some(unit) = unicode_escape(tail) else {
        let used = tail.char_indices().nth(2).map_or(tail.len(), |it| it.0);
        return (&tail[..used], used, false);
    };
    match unit {
        0xd800..=0xdbff => match tail.get(6..).and_then(unicode_escape) {
            Some(0xdc00..=0xdfff) => (&tail[..12], 12, false),
            Some(_) | None => ("\\ufffd", 6, true),
        },
        0xdc00..=0xdfff => ("\\ufffd", 6, true),
        _ => (&tail[..6], 6, false),
    }
}

fn unicode_escape(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|it| it.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_not_text() {
        let table: &[(&[u8], &str)] = &[
            (b"{}\r", "{}"),
            (b"\xef\xbb\xbf{}", "{}"),
            (b"{}\0\0\0", "{}"),
            (b"\0\0{}", "{}"),
            (b"\0\0\0", ""),
            (b"  ", ""),
            (b"{\"a\":\"\xff\"}", "{\"a\":\"\u{fffd}\"}"),
        ];
        for (bytes, expected) in table {
            assert_eq!(text(bytes), *expected);
        }
    }

    #[test]
    fn what_lenient_writers_produce_parses_once_repaired() {
        let table = [
            (r#"{"a":"\ud83d"}"#, "\u{fffd}"),
            (r#"{"a":"\ude00x"}"#, "\u{fffd}x"),
            (r#"{"a":"\ud83d\u0041"}"#, "\u{fffd}A"),
            ("{\"a\":\"tab\there\"}", "tab\there"),
        ];
        for (broken, expected) in table {
            let repaired = repair(broken).expect("repairs");
            let value: serde_json::Value = serde_json::from_str(&repaired).expect("parses");
            assert_eq!(value["a"], *expected, "`{broken}`");
        }
        for sound in [r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\\ud83d"}"#, r#"{"a":"\""}"#, "{\n}"] {
            assert_eq!(repair(sound), None, "`{sound}`");
        }
    }
}
