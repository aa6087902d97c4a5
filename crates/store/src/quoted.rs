//! Texts that stand word for word in the archive are not kept twice.
//!
//! Most texts of events are a JSON string, or a JSON value, of the record that they were read from.
//! Such an event says where in its feed's bytes the text stands. Anything else goes to a body page.

use std::borrow::Cow;

use rusqlite::Connection;

use crate::{
    StoreError, archive,
    limits::{HEAD_BYTES, MAX_SECOND_LOOK_BYTES, MAX_VAIN_LOOKS, MIN_QUOTED_BYTES},
};

/// How a text stands in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Verbatim,
    /// As a JSON string, its quotation marks included.
    JsonString,
}

/// Where a text stands in the bytes of its feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) form: Form,
    pub(crate) first_byte: u64,
    pub(crate) n_bytes: usize,
}

/// Looks for texts in the bytes of a batch.
#[derive(Debug)]
pub(crate) struct Quoter<'a> {
    raw: &'a [u8],
    /// Where the batch begins in its feed.
    base: u64,
    /// Where the last text ended: the next one of a record comes after it.
    after: usize,
    escaped: Vec<u8>,
}

impl<'a> Quoter<'a> {
    pub(crate) fn new(raw: &'a [u8], base: u64) -> Self {
        Self { raw, base, after: 0, escaped: Vec::new() }
    }

    /// Where `text` stands in the record that begins at `first_byte` and has `n_bytes`.
    pub(crate) fn find(&mut self, text: &str, first_byte: u64, n_bytes: u64) -> Option<Quote> {
        if text.len() < MIN_QUOTED_BYTES {
            return None;
        }
        let start = usize::try_from(first_byte.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(usize::try_from(n_bytes).ok()?)?.min(self.raw.len());
        if end < start.checked_add(text.len())? {
            return None;
        }
        let is_value = text.starts_with(['{', '[']);
        if is_value && let Some(at) = self.look(text.as_bytes(), start, end) {
            return Some(self.quote(Form::Verbatim, at, text.len()));
        }
        let mut escaped = std::mem::take(&mut self.escaped);
        escaped.clear();
        let found = match serde_json::to_writer(&mut escaped, text) {
            Ok(()) => self.look(&escaped, start, end),
            Err(_) => None,
        };
        let n_escaped = escaped.len();
        self.escaped = escaped;
        found.map(|at| self.quote(Form::JsonString, at, n_escaped))
    }

    fn look(&self, needle: &[u8], start: usize, end: usize) -> Option<usize> {
        let from = self.after.clamp(start, end);
        if let Some(at) = find(&self.raw[from..end], needle) {
            return Some(from + at);
        }
        let before = &self.raw[start..from];
        if before.len() < needle.len() || MAX_SECOND_LOOK_BYTES < before.len() {
            return None;
        }
        find(before, needle).map(|at| start + at)
    }

    fn quote(&mut self, form: Form, at: usize, n_bytes: usize) -> Quote {
        self.after = at + n_bytes;
        Quote { form, first_byte: self.base + at as u64, n_bytes }
    }
}

/// Where `needle` stands. Looks for its beginning, since to prepare a search for all of a long one
/// costs more than the search; where that is found too often in vain, it is given up.
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let head = &needle[..needle.len().min(HEAD_BYTES)];
    memchr::memmem::find_iter(text, head)
        .take(MAX_VAIN_LOOKS)
        .find(|at| text[*at..].starts_with(needle))
}

/// Reads quotes, and unpacks a chunk once for all that stand in it one after the other.
#[derive(Debug, Default)]
pub(crate) struct Quotes {
    chunk: Option<Chunk>,
    joined: Vec<u8>,
}

#[derive(Debug)]
struct Chunk {
    feed: i64,
    generation: i64,
    first_byte: u64,
    bytes: Vec<u8>,
}

impl Chunk {
    fn holds(&self, feed: i64, generation: i64, at: u64) -> bool {
        let end = self.first_byte + self.bytes.len() as u64;
        (self.feed, self.generation) == (feed, generation) && (self.first_byte..end).contains(&at)
    }

    /// At most `n_bytes` from the byte `at` of the feed on.
    fn from(&self, at: u64, n_bytes: usize) -> &[u8] {
        let start = usize::try_from(at - self.first_byte).unwrap_or(usize::MAX);
        let rest = self.bytes.get(start..).unwrap_or_default();
        &rest[..rest.len().min(n_bytes)]
    }
}

impl Quotes {
    /// The text of a quote.
    pub(crate) fn text(
        &mut self,
        db: &Connection,
        feed: i64,
        generation: i64,
        quote: Quote,
    ) -> Result<Cow<'_, str>, StoreError> {
        let damaged = || StoreError::Damaged {
            what: format!("feed {feed} has no text at byte {}", quote.first_byte),
        };
        let Self { chunk, joined } = self;
        let Quote { first_byte, n_bytes, .. } = quote;
        let first = hold(chunk, db, feed, generation, first_byte)?.ok_or_else(damaged)?;
        let is_whole = first.from(first_byte, n_bytes).len() == n_bytes;
        let bytes = if is_whole {
            chunk.as_ref().map(|it| it.from(first_byte, n_bytes)).unwrap_or_default()
        } else {
            joined.clear();
            while joined.len() < n_bytes {
                let at = first_byte + joined.len() as u64;
                let next = hold(chunk, db, feed, generation, at)?.ok_or_else(damaged)?;
                joined.extend_from_slice(next.from(at, n_bytes - joined.len()));
            }
            joined.as_slice()
        };
        match quote.form {
            Form::Verbatim => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| damaged()),
            Form::JsonString => serde_json::from_slice(bytes).map_err(|_| damaged()),
        }
    }
}

/// The chunk that holds the byte `at`, unless it is held already. `None` if there is none.
fn hold<'c>(
    held: &'c mut Option<Chunk>,
    db: &Connection,
    feed: i64,
    generation: i64,
    at: u64,
) -> Result<Option<&'c Chunk>, StoreError> {
    if !held.as_ref().is_some_and(|it| it.holds(feed, generation, at)) {
        let found = archive::chunk_at(db, feed, generation, at)?;
        let chunk = found.map(|(first_byte, bytes)| Chunk { feed, generation, first_byte, bytes });
        *held = chunk.filter(|it| it.holds(feed, generation, at));
    }
    Ok(held.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_as_its_record_has_it() {
        let long = "line one\nline \"two\" é \u{1b}[0m ".repeat(20);
        let value = format!("{{\"path\":\"{}\"}}", "a".repeat(300));
        let record = format!(
            "{{\"first\":{value},\"text\":{}}}\n",
            serde_json::to_string(&long).expect("is text")
        );
        let raw = format!("{{}}\n{record}");
        let mut quoter = Quoter::new(raw.as_bytes(), 100);
        let n_bytes = record.len() as u64;
        let quote = quoter.find(&value, 103, n_bytes).expect("stands there");
        assert_eq!((quote.form, quote.first_byte), (Form::Verbatim, 103 + 9));
        let quote = quoter.find(&long, 103, n_bytes).expect("stands there");
        assert_eq!(quote.form, Form::JsonString);
        let at = usize::try_from(quote.first_byte - 100).expect("is small");
        let text: String =
            serde_json::from_slice(&raw.as_bytes()[at..at + quote.n_bytes]).expect("is a string");
        assert_eq!(text, long);
        assert!(quoter.find(&value, 103, n_bytes).is_some(), "also before the last one");
        assert_eq!(quoter.find(&"b".repeat(300), 103, n_bytes), None);
        assert_eq!(quoter.find("short", 103, n_bytes), None);
        assert_eq!(quoter.find(&long, 5, n_bytes), None, "a record of another batch");
    }
}
