//! The words within an identifier.

use std::ops::Range;

use crate::limits::MAX_PARTS;

use super::class::{CLASS, DIGIT, LETTER, LOWER, NON_ASCII, UPPER};

/// The parts of one identifier, given out one by one.
#[derive(Debug, Default)]
pub(super) struct Parts {
    ranges: [(usize, usize); MAX_PARTS],
    n: usize,
    next: usize,
    position: usize,
}

/// Whether a word with these classes may have parts.
pub(super) fn is_compound(classes: u8, word: &[u8]) -> bool {
    match classes {
        LOWER | UPPER | DIGIT => false,
        LETTER => word[1..].iter().any(u8::is_ascii_uppercase),
        _ => true,
    }
}

impl Parts {
    /// Takes the word at `range` apart. Its first part has `position`.
    pub(super) fn split(&mut self, text: &str, range: Range<usize>, position: usize) {
        *self = Self { position, ..Self::default() };
        let bytes = text.as_bytes();
        let mut start = range.start;
        for end in range.clone() {
            if bytes[end] == b'_' {
                self.split_segment(bytes, start..end);
                start = end + 1;
            }
        }
        self.split_segment(bytes, start..range.end);
        let is_itself = self.n == 1 && self.ranges[0] == (range.start, range.end);
        if is_itself || MAX_PARTS <= self.n {
            self.n = 0;
        }
    }

    /// How many words the identifier has.
    pub(super) const fn n_positions(&self) -> usize {
        self.n - self.next
    }

    /// The next part and its position. A part of one letter has a place and no term.
    pub(super) fn next(&mut self) -> Option<(Range<usize>, usize)> {
        while self.next < self.n {
            let (start, end) = self.ranges[self.next];
            let position = self.position + self.next;
            self.next += 1;
            if 1 < end - start {
                return Some((start..end, position));
            }
        }
        (self.n, self.next) = (0, 0);
        None
    }

    fn split_segment(&mut self, bytes: &[u8], range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let is_one = is_hexadecimal(&bytes[range.clone()]);
        let mut start = range.start;
        for at in range.start + 1..range.end {
            let next = if at + 1 < range.end { class(bytes[at + 1]) } else { 0 };
            if !is_one && is_boundary(class(bytes[at - 1]), class(bytes[at]), next) {
                self.push(start, at);
                start = at;
            }
        }
        self.push(start, range.end);
    }

    fn push(&mut self, start: usize, end: usize) {
        if self.n < MAX_PARTS {
            self.ranges[self.n] = (start, end);
            self.n += 1;
        }
    }
}

/// The class of a byte within a word. What is not ASCII counts as a small letter.
const fn class(byte: u8) -> u8 {
    match CLASS[byte as usize] {
        NON_ASCII => LOWER,
        class => class,
    }
}

/// Whether a word ends before `this`: `r|L`, `P|Re`, `a|4`, `4|a`.
const fn is_boundary(before: u8, this: u8, next: u8) -> bool {
    match (before, this) {
        (LOWER, UPPER) | (LOWER | UPPER, DIGIT) | (DIGIT, LOWER | UPPER) => true,
        (UPPER, UPPER) => next == LOWER,
        _ => false,
    }
}

/// Whether `segment` is a number in base 16, whose letters and digits are no words.
fn is_hexadecimal(segment: &[u8]) -> bool {
    let classes = segment.iter().fold(0, |classes, it| classes | CLASS[usize::from(*it)]);
    3 < segment.len()
        && (classes == LOWER | DIGIT || classes == UPPER | DIGIT)
        && segment.iter().all(u8::is_ascii_hexdigit)
}
