//! A text as terms: the one way in which documents, queries and excerpts are taken apart.
//!
//! | text | terms, by position |
//! |---|---|
//! | `Fix the Bug` | `fix` · `the` · `bug` |
//! | `handleUserLogin` | `handleuserlogin`, and within it `handle` · `user` · `login` |
//! | `MAX_SIZE` | `max_size`, and within it `max` · `size` |
//! | `error-401`, `std::vector`, `a/b.rs` | each word by itself, one after the other |
//! | `C++`, `c#` | `c++`, `c#` |
//! | `数据库` | `数据` · `据库` · `库`: pairs, and the last by itself |
//! | `Straße`, `İstanbul`, `ﬁle` | `strasse`, `istanbul`, `file` |
//!
//! Left out: escape sequences of terminals, the escapes of JSON, and encoded data. The words of an
//! identifier stand one after the other, so a phrase of them is found in it.

mod class;
mod fold;
mod split;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::limits::{MAX_TERM_BYTES, MAX_WORD_BYTES, MIN_BLOB_WORD_BYTES};

pub use class::ansi_end;
use class::{
    BACKSLASH, CLASS, ESCAPE, LETTER, LOW_LINE, SEPARATOR, UPPER, WORD, blob_end, is_emoji,
    is_glyph, is_stable_glyph, joins_word, looks_like_json, starts_word,
};
use split::Parts;

/// What a term is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A word, an identifier, a pair of ideographs.
    Whole,
    /// A part of the identifier before it, or the last ideograph of a run.
    Part,
    /// An ideograph that stands alone.
    Glyph,
}

/// Where a term stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its number, counted in words.
    pub position: usize,
    /// How many words it has: more than one for an identifier that has parts.
    pub n_positions: usize,
    /// What it is.
    pub role: Role,
}

/// Walks over the terms of a text, in order of position.
#[derive(Debug)]
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    position: usize,
    is_json: bool,
    /// No encoded data begins before this byte.
    plain_to: usize,
    parts: Parts,
    run: Option<Run>,
}

/// Ideographs that follow each other.
#[derive(Debug)]
struct Run {
    range: Range<usize>,
    /// Its normal form, where that differs.
    folded: Option<String>,
    /// The next one, in the normal form.
    at: usize,
    is_single: bool,
}

impl<'t> Words<'t> {
    /// At the beginning of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            position: 0,
            is_json: looks_like_json(text),
            plain_to: 0,
            parts: Parts::default(),
            run: None,
        }
    }

    /// The next term, put into `term`, and its place.
    pub fn next(&mut self, term: &mut String) -> Option<Place> {
        if let Some(place) = self.part(term) {
            return Some(place);
        }
        if let Some(place) = self.glyphs(term) {
            return Some(place);
        }
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            let class = CLASS[usize::from(byte)];
            if class == SEPARATOR {
                self.at += 1;
                continue;
            }
            let place = if class & WORD != 0 {
                self.word(term)
            } else if class == BACKSLASH {
                self.at = class::backslash_end(self.text.as_bytes(), self.at, self.is_json);
                None
            } else if class == ESCAPE {
                self.at = class::ansi_end(self.text.as_bytes(), self.at);
                None
            } else {
                self.non_ascii(term)
            };
            if place.is_some() {
                return place;
            }
        }
    }

    fn part(&mut self, term: &mut String) -> Option<Place> {
        let (range, position) = self.parts.next()?;
        term.clear();
        let word = &self.text[range.clone()];
        if word.is_ascii() {
            term.push_str(word);
            term.make_ascii_lowercase();
        } else {
            fold::fold(word, term);
        }
        Some(Place { range, position, n_positions: 1, role: Role::Part })
    }

    /// A word that begins with an ASCII letter, digit or low line. `None` if it is none.
    fn word(&mut self, term: &mut String) -> Option<Place> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut end = start;
        let mut classes = 0;
        while let Some(byte) = bytes.get(end) {
            let class = CLASS[usize::from(*byte)];
            if class & WORD == 0 {
                break;
            }
            classes |= class;
            end += 1;
        }
        if bytes.get(end).is_some_and(|it| !it.is_ascii()) {
            let next = self.text[end..].chars().next().unwrap_or(' ');
            if joins_word(next) && !is_glyph(next) {
                return self.unicode_word(term);
            }
        }
        self.at = end;
        if classes == LOW_LINE || self.passes_blob(start, end) {
            return None;
        }
        term.clear();
        term.push_str(&self.text[start..end.min(start + MAX_TERM_BYTES)]);
        if classes & UPPER != 0 {
            term.make_ascii_lowercase();
        }
        if end - start == 1 && classes & LETTER != 0 {
            self.take_sharp(term);
        } else if split::is_compound(classes, &bytes[start..end]) {
            self.parts.split(self.text, start..end, self.position);
        }
        Some(self.whole(start..self.at))
    }

    /// Whether the word is encoded data, or the beginning of some; it is then left behind.
    fn passes_blob(&mut self, start: usize, end: usize) -> bool {
        let n_bytes = end - start;
        if n_bytes < MIN_BLOB_WORD_BYTES {
            return false;
        }
        let mut is_blob = MAX_WORD_BYTES < n_bytes;
        if self.plain_to < end {
            match blob_end(self.text.as_bytes(), start) {
                Ok(end_of_blob) => {
                    self.at = end_of_blob;
                    is_blob = true;
                }
                Err(plain_to) => self.plain_to = plain_to,
            }
        }
        // What stands before and after it are no neighbours.
        self.position += usize::from(is_blob);
        is_blob
    }

    /// `C++` and `C#` are names.
    fn take_sharp(&mut self, term: &mut String) {
        let rest = &self.text.as_bytes()[self.at..];
        let is_word = |it: &u8| CLASS[usize::from(*it)] & WORD != 0;
        if rest.starts_with(b"++") {
            term.push_str("++");
            self.at += 2;
        } else if rest.first() == Some(&b'#') && !rest.get(1).is_some_and(is_word) {
            term.push('#');
            self.at += 1;
        }
    }

    fn non_ascii(&mut self, term: &mut String) -> Option<Place> {
        let start = self.at;
        let next = self.text[start..].chars().next()?;
        if is_glyph(next) {
            self.begin_run(start);
            return self.glyphs(term);
        }
        if starts_word(next) {
            return self.unicode_word(term);
        }
        self.at += next.len_utf8();
        if is_emoji(next) {
            term.clear();
            term.push(next);
            return Some(self.whole(start..self.at));
        }
        None
    }

    fn unicode_word(&mut self, term: &mut String) -> Option<Place> {
        let start = self.at;
        let rest = &self.text[start..];
        let n_bytes = rest.find(|it| !joins_word(it) || is_glyph(it)).unwrap_or(rest.len());
        let end = start + n_bytes;
        self.at = end;
        if MAX_WORD_BYTES < n_bytes {
            self.position += 1;
            return None;
        }
        let word = &rest[..n_bytes];
        term.clear();
        fold::fold(word, term);
        if term.is_empty() {
            return None;
        }
        if word.bytes().any(|it| it == b'_' || it.is_ascii_digit() || it.is_ascii_uppercase()) {
            self.parts.split(self.text, start..end, self.position);
        }
        Some(self.whole(start..end))
    }

    fn whole(&mut self, range: Range<usize>) -> Place {
        let n_positions = self.parts.n_positions().max(1);
        let position = self.position;
        self.position += n_positions;
        Place { range, position, n_positions, role: Role::Whole }
    }

    fn begin_run(&mut self, start: usize) {
        let rest = &self.text[start..];
        let belongs = |it: char| is_glyph(it) || class::is_mark(it);
        let n_bytes = rest.find(|it| !belongs(it)).unwrap_or(rest.len());
        let run = &rest[..n_bytes];
        let folded = (!run.chars().all(is_stable_glyph)).then(|| {
            let mut folded = String::with_capacity(n_bytes);
            fold::fold_whole(run, &mut folded);
            folded
        });
        let is_single = folded.as_deref().unwrap_or(run).chars().nth(1).is_none();
        let range = start..start + n_bytes;
        self.at = range.end;
        self.run = Some(Run { range, folded, at: 0, is_single });
    }

    /// The next pair of the run.
    fn glyphs(&mut self, term: &mut String) -> Option<Place> {
        let run = self.run.as_mut()?;
        let text = run.folded.as_deref().unwrap_or(&self.text[run.range.clone()]);
        let mut glyphs = text[run.at..].chars();
        let Some(first) = glyphs.next() else {
            self.run = None;
            return None;
        };
        term.clear();
        term.push(first);
        let role = match glyphs.next() {
            Some(second) => {
                term.push(second);
                Role::Whole
            }
            None if run.is_single => Role::Glyph,
            None => Role::Part,
        };
        let start = run.range.start + run.at;
        let range = match run.folded {
            Some(_) => run.range.clone(),
            None => start..start + term.len(),
        };
        run.at += first.len_utf8();
        let position = self.position;
        self.position += 1;
        Some(Place { range, position, n_positions: 1, role })
    }
}
