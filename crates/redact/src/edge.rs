//! Where a secret begins and ends in text that may be JSON.
//!
//! A tool's input is JSON, often with JSON or source text in its strings, so what stands before a
//! secret can be the `n` of an escaped newline, and what stands behind it a backslash.

use std::ops::Range;

use serde::Deserialize;

use crate::limits::MAX_MARKER_BYTES;

/// How every marker begins.
pub(crate) const MARKER: &str = "[redacted:";

/// What must stand before a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Left {
    /// Not a letter, a digit or an underscore.
    #[default]
    Word,
    /// Nor a hyphen within a word. For tokens that hold hyphens themselves.
    Token,
    /// A digit.
    Digit,
    /// Whatever there is. For prefixes that nothing else has, and for names of settings, which
    /// have prefixes of their own.
    Any,
}

impl Left {
    /// Whether a match may begin at `at`.
    pub(crate) fn admits(self, bytes: &[u8], at: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Digit => at.checked_sub(1).is_some_and(|it| bytes[it].is_ascii_digit()),
            Self::Word => begins_word(bytes, at),
            Self::Token => {
                let is_joined = 2 <= at && bytes[at - 1] == b'-' && !begins_word(bytes, at - 1);
                begins_word(bytes, at) && !is_joined
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether no word reaches over `at` from the left. The tail of an escape is no part of a word.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let Some(&last) = before.last() else { return true };
    if !is_word(last) {
        return true;
    }
    let hex_after = |mark: &[u8], n_digits: usize| {
        before.len().checked_sub(n_digits).is_some_and(|cut| {
            before[..cut].ends_with(mark) && before[cut..].iter().all(u8::is_ascii_hexdigit)
        })
    };
    match last {
        b'n' | b'r' | b't' | b'b' | b'f' if before[..at - 1].ends_with(b"\\") => true,
        // A terminal's colour: ESC `[` digits `m`.
        b'm' => {
            let digits = before[..at - 1].iter().rev().take(12);
            let n_digits = digits.take_while(|it| it.is_ascii_digit() || **it == b';').count();
            before[..at - 1 - n_digits].ends_with(b"[")
        }
        _ => hex_after(b"\\u", 4) || hex_after(b"%", 2),
    }
}

/// Narrows `range` to what can be replaced without a change to the quoting around it: escapes in
/// it are whole, no string ends in it, and it does not end in a backslash. `None` if nothing is
/// left, or if it is a bare JSON number.
pub(crate) fn replaceable(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let Range { mut start, mut end } = range;
    if let Some(escape) = escape_over(bytes, start) {
        start = escape.end;
    }
    let quotes = memchr::memchr_iter(b'"', bytes.get(start..end)?);
    if let Some(quote) =
        quotes.map(|it| start + it).find(|it| n_backslashes(bytes, *it).is_multiple_of(2))
    {
        end = quote;
    }
    if let Some(escape) = escape_over(bytes, end) {
        end = escape.start;
    }
    end -= n_backslashes(bytes, end).min(end.saturating_sub(start));
    let secret = text.get(start..end).filter(|it| !it.is_empty())?;
    let is_number = secret.bytes().all(|it| b"0123456789.eE+-".contains(&it));
    let is_delimited = bytes.get(end).is_some_and(|it| b"@\"'\\`".contains(it));
    (!is_number || is_delimited).then_some(start..end)
}

fn n_backslashes(bytes: &[u8], before: usize) -> usize {
    bytes[..before].iter().rev().take_while(|it| **it == b'\\').count()
}

/// The escape sequence that begins before `at` and goes on after it.
fn escape_over(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    for start in at.saturating_sub(5)..at {
        if bytes[start] != b'\\' || !n_backslashes(bytes, start).is_multiple_of(2) {
            continue;
        }
        let is_unicode = bytes
            .get(start + 1..start + 6)
            .is_some_and(|it| it[0] == b'u' && it[1..].iter().all(u8::is_ascii_hexdigit));
        let end = start + if is_unicode { 6 } else { 2 };
        if at < end {
            return Some(start..end);
        }
    }
    None
}

/// Whether `range` touches a marker, which is no part of a secret, nor a name next to one.
pub(crate) fn touches_marker(text: &str, range: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(range.start.saturating_sub(MAX_MARKER_BYTES));
    let to = text.ceil_char_boundary((range.end + MAX_MARKER_BYTES).min(text.len()));
    memchr::memmem::find_iter(&text.as_bytes()[from..to], MARKER).any(|it| {
        let start = from + it;
        let name_start = start + MARKER.len();
        let is_name = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == b'-';
        let n_name = text.as_bytes()[name_start..].iter().take_while(|it| is_name(it)).count();
        let end = name_start + n_name + 1;
        text.as_bytes().get(end - 1) == Some(&b']') && start <= range.end && range.start <= end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_after_an_escape() {
        for (before, expected) in [
            ("", true),
            ("a", false),
            ("_", false),
            (" ", true),
            ("é", true),
            ("n", false),
            (r"\n", true),
            (r"\\t", true),
            (r"\u0026", true),
            ("u0026", false),
            ("%3D", true),
            ("%D", false),
            ("\x1b[32m", true),
            (r"\u001b[0;1m", true),
            ("from", false),
        ] {
            let text = format!("{before}X");
            let found = Left::Word.admits(text.as_bytes(), before.len());
            assert_eq!(found, expected, "`{before}`");
        }
    }

    #[test]
    fn a_hyphen_joins_only_what_is_before_it() {
        for (before, expected) in [("a-", false), ("-", true), ("\n-", true), (r"\n-", true)] {
            let text = format!("{before}X");
            let found = Left::Token.admits(text.as_bytes(), before.len());
            assert_eq!(found, expected, "`{before}`");
        }
    }

    #[test]
    fn what_is_replaced_leaves_the_quoting_alone() {
        // The range is between the bars.
        for (text, expected) in [
            ("a|secret|b", Some("secret")),
            (r"|secret\|nb", Some("secret")),
            (r"|secret\\|", Some("secret")),
            (r"\|nsecret|", Some("secret")),
            (r"\u00|e9secret|", Some("secret")),
            (r"|secret\u00|e9", Some("secret")),
            (r"|sec\u00e9ret|", Some(r"sec\u00e9ret")),
            (r#"|se\"cret|"#, Some(r#"se\"cret"#)),
            (r#"|secret","next|"#, Some("secret")),
            (r#"|secret\\","next|"#, Some("secret")),
            (r#"|"secret|"#, None),
            (r"|\|n", None),
            ("|12345.6e7|,", None),
            ("|12345|", None),
            ("|12345|@host", Some("12345")),
            (r#"|12345|""#, Some("12345")),
        ] {
            let start = text.find('|').expect("a bar");
            let end = text.rfind('|').expect("a bar") - 1;
            let text = text.replace('|', "");
            let found = replaceable(&text, start..end).map(|it| &text[it]);
            assert_eq!(found, expected, "`{text}`");
        }
    }

    #[test]
    fn markers_are_seen_where_they_touch() {
        let text = "ab [redacted:x-1] cd [redacted:?] ef";
        for (range, expected) in [
            (0..2, false),
            (0..3, true),
            (5..6, true),
            (17..18, true),
            (18..20, false),
            (22..24, false),
        ] {
            assert_eq!(touches_marker(text, &range), expected, "{range:?}");
        }
    }
}
