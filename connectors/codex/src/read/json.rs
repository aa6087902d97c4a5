//! JSON where it stands: values are found in a line, not built from it.
//!
//! Most of a transcript is long strings that nobody asks for: sealed reasoning, instructions that
//! are repeated each turn. They are passed over at the speed of a search for the quote that ends
//! them, and what is asked for is borrowed from the line unless it has escapes.
//!
//! **Invariant:** [`Json::object`] and [`Json::parse`] accept only text that is one whole value,
//! so that a torn line, or one with another glued to it, is noticed. They are lenient where that
//! loses nothing: with control characters and lone surrogates, as careless writers make them, with
//! zeros before a number, and with what stands in a string that nobody asks for.

use std::{borrow::Cow, str::FromStr};

use memchr::memchr;

use crate::limits::MAX_DEPTH;

/// Text is no JSON, or a value is of another type than its reader expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// A value, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// The value that `text` is.
    pub(super) fn parse(text: &'a str) -> Result<Self, Malformed> {
        let mut scan = Scan { text, at: 0 };
        let value = scan.value()?;
        scan.end()?;
        Ok(value)
    }

    /// The object that `text` is, with its fields called `names`: in one pass what
    /// [`Json::parse`] and [`Json::fields`] do in two.
    pub(super) fn object<const N: usize>(
        text: &'a str,
        names: [&str; N],
    ) -> Result<(Self, [Option<Self>; N]), Malformed> {
        let mut fields = Fields::of(text)?;
        let found = fields.pick(names, usize::MAX)?;
        fields.scan.end()?;
        Ok((Self(text), found))
    }

    /// The fields called `names` of an object; `None` where one is missing or `null`.
    pub(super) fn fields<const N: usize>(
        self,
        names: [&str; N],
    ) -> Result<[Option<Self>; N], Malformed> {
        Fields::of(self.0)?.pick(names, N)
    }

    /// Every field of an object.
    pub(super) fn entries(self) -> Result<Vec<(Cow<'a, str>, Self)>, Malformed> {
        let mut fields = Fields::of(self.0)?;
        let mut entries = Vec::new();
        while let Some((key, value)) = fields.next()? {
            entries.push((unescape(key)?, value));
        }
        Ok(entries)
    }

    /// Every item of an array.
    pub(super) fn items(self) -> Result<Vec<Self>, Malformed> {
        let mut scan = Scan { text: self.0, at: 0 };
        let mut items = Vec::new();
        scan.expect(b'[')?;
        if scan.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(scan.value()?);
            if scan.take(b']') {
                return Ok(items);
            }
            scan.expect(b',')?;
        }
    }

    /// How it is written.
    pub(super) const fn as_str(self) -> &'a str {
        self.0
    }

    /// The text of a string.
    pub(super) fn string(self) -> Result<Cow<'a, str>, Malformed> {
        let inner = self.0.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        unescape(inner.ok_or(Malformed)?)
    }

    /// A number.
    pub(super) fn number<T: FromStr>(self) -> Result<T, Malformed> {
        self.0.parse().map_err(|_| Malformed)
    }

    /// A truth value.
    pub(super) fn flag(self) -> Result<bool, Malformed> {
        self.0.parse().map_err(|_| Malformed)
    }
}

/// How many words of eight bytes are looked at before a search is begun.
const N_WORDS: usize = 4;

/// The fields of an object, one after the other.
struct Fields<'a> {
    scan: Scan<'a>,
    is_first: bool,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Result<Self, Malformed> {
        let mut scan = Scan { text, at: 0 };
        scan.expect(b'{')?;
        Ok(Self { scan, is_first: true })
    }

    /// The next field: its name as it is written, and its value.
    fn next(&mut self) -> Result<Option<(&'a str, Json<'a>)>, Malformed> {
        if self.scan.take(b'}') {
            return Ok(None);
        }
        if !self.is_first {
            self.scan.expect(b',')?;
        }
        self.is_first = false;
        let key = self.scan.key()?;
        Ok(Some((key, self.scan.value()?)))
    }

    /// Looks for fields until `n_wanted` are found. The first of two with one name stands.
    fn pick<const N: usize>(
        &mut self,
        names: [&str; N],
        n_wanted: usize,
    ) -> Result<[Option<Json<'a>>; N], Malformed> {
        let mut found = [None; N];
        let mut n_found = 0;
        while n_found < n_wanted
            && let Some((key, value)) = self.next()?
        {
            if let Some(at) = names.iter().position(|it| *it == key)
                && found[at].is_none()
            {
                found[at] = Some(value);
                n_found += 1;
            }
        }
        Ok(found.map(|it| it.filter(|it| it.0 != "null")))
    }
}

/// A place in a text.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.take(byte) { Ok(()) } else { Err(Malformed) }
    }

    fn end(&mut self) -> Result<(), Malformed> {
        if self.peek().is_none() { Ok(()) } else { Err(Malformed) }
    }

    fn key(&mut self) -> Result<&'a str, Malformed> {
        self.expect(b'"')?;
        let start = self.at;
        self.skip_string()?;
        let key = &self.text[start..self.at - 1];
        self.expect(b':')?;
        Ok(key)
    }

    fn value(&mut self) -> Result<Json<'a>, Malformed> {
        self.peek();
        let start = self.at;
        self.skip_value()?;
        Ok(Json(&self.text[start..self.at]))
    }

    /// Passes over a value. Which of the containers around it are objects is kept in bits.
    fn skip_value(&mut self) -> Result<(), Malformed> {
        let mut objects: u128 = 0;
        let mut depth = 0;
        loop {
            match self.peek().ok_or(Malformed)? {
                b'"' => {
                    self.at += 1;
                    self.skip_string()?;
                }
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let is_object = open == b'{';
                    if !self.take(if is_object { b'}' } else { b']' }) {
                        if depth == MAX_DEPTH {
                            return Err(Malformed);
                        }
                        depth += 1;
                        objects = objects << 1 | u128::from(is_object);
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => self.skip_word()?,
            }
            // A value has ended, and with it perhaps some of those that it is in.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                if self.take(b',') {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    /// Passes over a string of which the first quote has been taken.
    ///
    /// Most strings are short and plain, or long: a search costs more to begin than a few steps.
    /// It looks for quotes alone, of which texts have fewer than escapes.
    fn skip_string(&mut self) -> Result<(), Malformed> {
        let inside = self.text.as_bytes().get(self.at..).ok_or(Malformed)?;
        let mut end = n_plain(inside);
        if inside.get(end) != Some(&b'"') {
            loop {
                end += memchr(b'"', &inside[end..]).ok_or(Malformed)?;
                let n_escapes = inside[..end].iter().rev().take_while(|it| **it == b'\\').count();
                if n_escapes % 2 == 0 {
                    break;
                }
                end += 1;
            }
        }
        self.at += end + 1;
        Ok(())
    }

    /// Passes over a number, or one of the three words.
    fn skip_word(&mut self) -> Result<(), Malformed> {
        let rest = &self.text[self.at..];
        let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.');
        let n_bytes = rest.bytes().take_while(is_part).count();
        let word = &rest[..n_bytes];
        let is_number = word.starts_with(|it: char| it == '-' || it.is_ascii_digit())
            && (word.bytes().all(|it| it.is_ascii_digit()) || word.parse::<f64>().is_ok());
        if !is_number && !matches!(word, "null" | "true" | "false") {
            return Err(Malformed);
        }
        self.at += n_bytes;
        Ok(())
    }
}

/// How many bytes stand before the first quote or backslash, as far as a few steps tell: if there is
/// none in the first words of eight bytes, it is past them.
fn n_plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGHS: u64 = ONES << 7;
    // The lowest bit that is set is that of the first byte that is zero.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, _) = bytes.as_chunks();
    let words = &words[..words.len().min(N_WORDS)];
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special =
            zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if special != 0 {
            return 8 * i + (special.trailing_zeros() / 8) as usize;
        }
    }
    8 * words.len()
}

/// The text that the inside of a string stands for. A lone surrogate becomes U+FFFD.
fn unescape(inner: &str) -> Result<Cow<'_, str>, Malformed> {
    let Some(first) = memchr(b'\\', inner.as_bytes()) else {
        return Ok(Cow::Borrowed(inner));
    };
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some(escape) = rest.as_bytes().get(1) {
        let character = match escape {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'/' => '/',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (character, n_bytes) = code_point(rest)?;
                out.push(character);
                rest = copy_plain(&rest[n_bytes..], &mut out);
                continue;
            }
            _ => return Err(Malformed),
        };
        out.push(character);
        rest = copy_plain(&rest[2..], &mut out);
    }
    if rest.is_empty() { Ok(Cow::Owned(out)) } else { Err(Malformed) }
}

/// Copies `text` up to its next escape, and gives the rest.
fn copy_plain<'a>(text: &'a str, out: &mut String) -> &'a str {
    let bytes = text.as_bytes();
    let mut end = n_plain(bytes);
    if bytes.get(end) != Some(&b'\\') {
        end = memchr(b'\\', &bytes[end..]).map_or(bytes.len(), |it| end + it);
    }
    let (plain, rest) = text.split_at(end);
    out.push_str(plain);
    rest
}

/// The character of the `\u` escape at the head of `text`, and how many bytes it has.
fn code_point(text: &str) -> Result<(char, usize), Malformed> {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    let first = unit(0).ok_or(Malformed)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let pair = |second: u32| 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    Ok(match unit(6) {
        Some(second @ 0xdc00..=0xdfff) if first < 0xdc00 => {
            (char::from_u32(pair(second)).ok_or(Malformed)?, 12)
        }
        Some(_) | None => (char::REPLACEMENT_CHARACTER, 6),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_is_whole_is_told_from_what_is_not() {
        let deep = |n: u32| "[".repeat(n as usize) + &"]".repeat(n as usize);
        let (deepest, too_deep) = (deep(MAX_DEPTH), deep(MAX_DEPTH + 2));
        let whole = [
            "{}",
            " [ ] ",
            r#"{"a":1}"#,
            r#"{"a" : [1, -2.5e3, {"b":[]}, null, true], "c":"\\\"}"}"#,
            "\"\\u12ab\"",
            "0",
            &deepest,
        ];
        for text in whole {
            assert_eq!(Json::parse(text).map(Json::as_str), Ok(text.trim()), "{text}");
        }
        let broken = [
            "",
            "{",
            "}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":1"b":2}"#,
            r#"{"a":1 2}"#,
            r#"{"a":tru}"#,
            r#"{"a":1.2.3}"#,
            r#"{"a":"b}"#,
            r#"{"a":"b\"#,
            r#"{"a":[1,2}"#,
            r#"{"a":1}]"#,
            r#"{"a":1}{"b":2}"#,
            r#"{"time":"now","text":"half of it{"time":"now","text":"x"}"#,
            "[1,]",
            "{1:2}",
            "nope",
            &too_deep,
        ];
        for text in broken {
            assert_eq!(Json::parse(text), Err(Malformed), "{text}");
            assert_eq!(Json::object(text, ["a"]), Err(Malformed), "{text}");
        }
    }

    #[test]
    fn fields_are_found_wherever_they_stand() {
        let text = r#"{"b":{"a":1},"n":null,"a":[2,"}"],"a":3, "c" : "x" }"#;
        let (_, [a, b, c, n, missing]) =
            Json::object(text, ["a", "b", "c", "n", "m"]).expect("is an object");
        let shown = [a, b, c, n, missing].map(|it| it.map(Json::as_str));
        assert_eq!(shown, [Some(r#"[2,"}"]"#), Some(r#"{"a":1}"#), Some("\"x\""), None, None]);
        assert_eq!(Json("[]").fields(["a"]), Err(Malformed));
        let entries = Json(r#"{"\u0061":1,"b":2}"#).entries().expect("is an object");
        assert_eq!(entries, [("a".into(), Json("1")), ("b".into(), Json("2"))]);
        let items = Json(r#"[1, "a,]", []]"#).items().expect("is an array");
        assert_eq!(items, [Json("1"), Json("\"a,]\""), Json("[]")]);
        assert_eq!(Json("[]").items(), Ok(Vec::new()));
        assert_eq!(Json("{}").items(), Err(Malformed));
    }

    #[test]
    fn strings_read_as_another_parser_reads_them() {
        let table = [
            r#""""#,
            r#""plain é 漢""#,
            r#""\n\t\r\b\f\/\\\"""#,
            r#""a\nb\n""#,
            r#""\u00e9\u6f22\ud83d\ude00x""#,
            r#""\\ud83d""#,
        ];
        for json in table {
            let expected: Value = serde_json::from_str(json).expect("is JSON");
            assert_eq!(Json(json).string().as_deref(), Ok(expected.as_str().expect("is a string")));
        }
    }

    #[test]
    fn strings_of_careless_writers_are_read() {
        let table = [
            (r#""\ud83d""#, Ok("\u{fffd}")),
            (r#""\ude00x""#, Ok("\u{fffd}x")),
            (r#""\ud83d\u0041""#, Ok("\u{fffd}A")),
            (r#""\ud83d\ud83d\ude00""#, Ok("\u{fffd}\u{1f600}")),
            ("\"tab\there\"", Ok("tab\there")),
            (r#""\q""#, Err(Malformed)),
            (r#""\u+123""#, Err(Malformed)),
            (r#""\u12""#, Err(Malformed)),
            ("7", Err(Malformed)),
        ];
        for (json, expected) in table {
            assert_eq!(Json(json).string().as_deref(), expected.as_ref().copied(), "{json}");
        }
    }
}
