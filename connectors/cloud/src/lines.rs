//! Lines, one event each, as bytes.

use std::fmt;

/// Whole lines, each with its newline.
#[derive(Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// Just after each newline.
    ends: Vec<usize>,
}

impl Lines {
    /// The lines in `bytes`. What follows the last newline is no line and is counted in none.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let newlines = bytes.iter().enumerate().filter(|it| *it.1 == b'\n');
        let ends = newlines.map(|it| it.0 + 1).collect();
        Self { bytes, ends }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines from `first` to just before `end`, as they stand.
    pub(crate) fn slice(&self, first: usize, end: usize) -> &[u8] {
        &self.bytes[self.start(first)..self.start(end)]
    }

    /// Line `i` without its newline.
    pub(crate) fn line(&self, i: usize) -> &[u8] {
        let line = self.slice(i, i + 1);
        &line[..line.len() - 1]
    }

    /// Where line `i` begins.
    pub(crate) fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines of {} bytes", self.len(), self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_newlines() {
        let lines = Lines::of(b"a\n\nbc\nrest".to_vec());
        assert_eq!(lines.len(), 3);
        let each: Vec<&[u8]> = (0..3).map(|it| lines.line(it)).collect();
        assert_eq!(each, [&b"a"[..], b"", b"bc"]);
        assert_eq!(lines.slice(1, 3), b"\nbc\n");
        assert_eq!(lines.slice(3, 3), b"");
        assert_eq!(Lines::default().slice(0, 0), b"");
    }
}
