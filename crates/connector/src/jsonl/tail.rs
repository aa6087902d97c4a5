//! Whole lines, from a place that survives restarts.

use std::{
    fmt::Write as _,
    io, mem,
    ops::Range,
    path::{Path, PathBuf},
};

use ai_hist_model::{Cursor, Span};

use super::source::{self, Source, fingerprint, keep_last};
use crate::{
    ConnectorError, Start,
    limits::{MAX_FINGERPRINT_BYTES, MAX_LINE_BYTES, MAX_PIECE_BYTES},
};

const BLOCK_BYTES: usize = 256 * 1024;

/// A file, read line by line from a place that survives restarts.
///
/// **Invariant:** only whole lines are given out. A last line without its newline is given out
/// only if it is a whole JSON object; else it is still being written, the cursor stays before it,
/// and [`Tail::rest`] shows it.
/// **Invariant:** [`Tail::take_raw`] after a line gives every byte since the last time, so that
/// the pieces put together are the file.
///
/// A line of more than [`MAX_LINE_BYTES`] is not held in memory: it comes as pieces, then as
/// [`LineBody::TooLong`], and its bytes come with `take_raw` all the same.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    source: Source,
    /// Bytes read and not yet taken. Those before `used` have been given out.
    buffer: Vec<u8>,
    used: usize,
    /// The place of the buffer's first byte in the file.
    base: u64,
    /// How many lines have been given out since the beginning of the file.
    n_lines: u64,
    head: Vec<u8>,
    before: Vec<u8>,
    start: Start,
    ended: bool,
    /// In the middle of a line that is too long; where it began.
    skipping: Option<u64>,
    /// The last line given out had no newline yet.
    open_line: bool,
}

/// A line, or a piece of one.
#[derive(Debug)]
pub struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub body: LineBody<'a>,
}

/// What a line is.
#[derive(Debug)]
pub enum LineBody<'a> {
    /// The bytes of a whole line, without its newline.
    Whole(&'a [u8]),
    /// A piece of a line that is too long. Counts as nothing; take the raw bytes and go on.
    Piece,
    /// The end of a line that is too long.
    TooLong,
}

struct Place {
    offset: u64,
    n_lines: u64,
    head: u64,
    before: u64,
    skipping: Option<u64>,
}

impl Tail {
    /// Opens `path` at `cursor`, or at its beginning if the file is not the one `cursor` is of.
    /// A path that ends in `.zst` is unpacked.
    pub fn open(path: &Path, cursor: Option<&Cursor>) -> Result<Self, ConnectorError> {
        Self::try_open(path, cursor).map_err(|error| failure(path, error))
    }

    fn try_open(path: &Path, cursor: Option<&Cursor>) -> io::Result<Self> {
        if let Some(place) = cursor.and_then(parse) {
            let at = source::open(path, place.offset)?;
            let n_head = place.offset.min(MAX_FINGERPRINT_BYTES as u64);
            let n_head = usize::try_from(n_head).unwrap_or(usize::MAX).min(at.head.len());
            if at.reached
                && fingerprint(&at.head[..n_head]) == place.head
                && fingerprint(&at.before) == place.before
            {
                let open_line = at.before.last().is_some_and(|it| *it != b'\n');
                return Ok(Self {
                    path: path.to_owned(),
                    source: at.source,
                    buffer: Vec::new(),
                    used: 0,
                    base: place.offset,
                    n_lines: place.n_lines,
                    head: at.head[..n_head].to_vec(),
                    before: at.before,
                    start: Start::Continued,
                    ended: false,
                    skipping: place.skipping,
                    open_line: open_line && place.skipping.is_none(),
                });
            }
        }
        let at = source::open(path, 0)?;
        Ok(Self {
            path: path.to_owned(),
            source: at.source,
            buffer: Vec::new(),
            used: 0,
            base: 0,
            n_lines: 0,
            head: Vec::new(),
            before: Vec::new(),
            start: Start::Restarted,
            ended: false,
            skipping: None,
            open_line: false,
        })
    }

    /// Whether the file is the one the cursor was of.
    #[must_use]
    pub const fn start(&self) -> Start {
        self.start
    }

    /// The place after the last line given out. Ask after [`Tail::take_raw`].
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        debug_assert_eq!(self.used, 0, "the raw bytes are taken before the cursor is");
        let mut words = format!(
            "{}:{}:{:x}:{:x}",
            self.base,
            self.n_lines,
            fingerprint(&self.head),
            fingerprint(&self.before)
        );
        if let Some(first_byte) = self.skipping {
            let _ = write!(words, ":{first_byte}");
        }
        Cursor::new(words)
    }

    /// How many bytes have been given out and not yet taken.
    #[must_use]
    pub const fn n_untaken(&self) -> usize {
        self.used
    }

    /// Every byte given out since the last time.
    pub fn take_raw(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.used);
        let raw = mem::replace(&mut self.buffer, rest);
        self.base += raw.len() as u64;
        self.used = 0;
        let room = MAX_FINGERPRINT_BYTES.saturating_sub(self.head.len()).min(raw.len());
        self.head.extend_from_slice(&raw[..room]);
        keep_last(&mut self.before, &raw);
        raw
    }

    /// Leaves the present line, and all after it, for a later pass: gives their bytes as they stand.
    pub fn set_aside(&mut self) -> Result<Vec<u8>, ConnectorError> {
        while self.next_line()?.is_some() {}
        let mut waiting = self.take_raw();
        waiting.extend_from_slice(self.rest());
        Ok(waiting)
    }

    /// At the end: the bytes beyond the last whole line.
    #[must_use]
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    /// The next whole line, if there is one yet.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, ConnectorError> {
        match self.advance() {
            Ok(Some((number, span, found))) => {
                let body = match found {
                    Found::Whole(range) => LineBody::Whole(&self.buffer[range]),
                    Found::Piece => LineBody::Piece,
                    Found::TooLong => LineBody::TooLong,
                };
                Ok(Some(Line { number, span, body }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(failure(&self.path, error)),
        }
    }

    fn advance(&mut self) -> io::Result<Option<(u64, Span, Found)>> {
        self.close_open_line()?;
        let mut searched = self.used;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..]) {
                let end = searched + at;
                return Ok(Some(self.give_out(end, end + 1)));
            }
            searched = self.buffer.len();
            let pending = searched - self.used;
            if self.skipping.is_some() && MAX_PIECE_BYTES <= pending {
                return Ok(Some(self.give_piece()));
            }
            if MAX_LINE_BYTES < pending {
                self.skipping = Some(self.base + self.used as u64);
                return Ok(Some(self.give_piece()));
            }
            if self.ended || !self.fill()? {
                self.ended = true;
                return Ok(self.last_line());
            }
        }
    }

    /// The newline of a line that was given out without one belongs to it.
    fn close_open_line(&mut self) -> io::Result<()> {
        if !self.open_line {
            return Ok(());
        }
        if self.used == self.buffer.len() && !self.ended && !self.fill()? {
            self.ended = true;
        }
        if let Some(byte) = self.buffer.get(self.used) {
            self.open_line = false;
            self.used += usize::from(*byte == b'\n');
        }
        Ok(())
    }

    fn give_out(&mut self, end: usize, next: usize) -> (u64, Span, Found) {
        self.n_lines += 1;
        let range = self.used..end;
        let last_byte = self.base + end as u64;
        let (first_byte, found) = match self.skipping.take() {
            Some(first_byte) => (first_byte, Found::TooLong),
            None => (self.base + self.used as u64, Found::Whole(range)),
        };
        self.used = next;
        (self.n_lines, Span { first_byte, n_bytes: last_byte - first_byte }, found)
    }

    fn give_piece(&mut self) -> (u64, Span, Found) {
        let first_byte = self.base + self.used as u64;
        let n_bytes = (self.buffer.len() - self.used) as u64;
        self.used = self.buffer.len();
        (self.n_lines + 1, Span { first_byte, n_bytes }, Found::Piece)
    }

    /// A last line without its newline, if it is whole all the same.
    fn last_line(&mut self) -> Option<(u64, Span, Found)> {
        if self.skipping.is_some() {
            return None;
        }
        let bytes = &self.buffer[self.used..];
        let text = super::text(bytes);
        let is_object = text.starts_with('{') && text.ends_with('}');
        let is_whole = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if !is_object || !(is_whole(&text) || super::repair(&text).is_some_and(|it| is_whole(&it)))
        {
            return None;
        }
        self.open_line = true;
        let end = self.buffer.len();
        Some(self.give_out(end, end))
    }

    fn fill(&mut self) -> io::Result<bool> {
        let old = self.buffer.len();
        self.buffer.resize(old + BLOCK_BYTES, 0);
        let read = self.source.read(&mut self.buffer[old..]);
        self.buffer.truncate(old + read.as_ref().copied().unwrap_or(0));
        Ok(read? != 0)
    }
}

enum Found {
    Whole(Range<usize>),
    Piece,
    TooLong,
}

fn failure(path: &Path, error: io::Error) -> ConnectorError {
    let path = path.to_owned();
    if error.kind() == io::ErrorKind::FileTooLarge {
        return ConnectorError::TooLarge { path };
    }
    ConnectorError::Read { path, source: error }
}

fn parse(cursor: &Cursor) -> Option<Place> {
    let mut words = cursor.as_str().split(':');
    let offset = words.next()?.parse().ok()?;
    let n_lines = words.next()?.parse().ok()?;
    let head = u64::from_str_radix(words.next()?, 16).ok()?;
    let before = u64::from_str_radix(words.next()?, 16).ok()?;
    let skipping = words.next().and_then(|it| it.parse().ok());
    Some(Place { offset, n_lines, head, before, skipping })
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    /// Reads to the end: the lines, the raw bytes, the cursor.
    fn drain(path: &Path, cursor: Option<&Cursor>) -> (Start, Vec<String>, Vec<u8>, Cursor) {
        let mut tail = Tail::open(path, cursor).expect("opens");
        let mut lines = Vec::new();
        while let Some(line) = tail.next_line().expect("reads") {
            lines.push(match line.body {
                LineBody::Whole(bytes) => format!(
                    "{} {} {}",
                    line.number,
                    line.span.first_byte,
                    String::from_utf8_lossy(bytes)
                ),
                LineBody::Piece => "piece".to_owned(),
                LineBody::TooLong => format!("{} too long", line.number),
            });
        }
        let raw = tail.take_raw();
        (tail.start(), lines, raw, tail.cursor())
    }

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("makes a folder");
        let path = dir.path().join("x.jsonl");
        fs::write(&path, bytes).expect("writes");
        (dir, path)
    }

    fn append(path: &Path, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("opens");
        file.write_all(bytes).expect("writes");
    }

    #[test]
    fn a_torn_line_waits_and_is_then_read_once() {
        let (_dir, path) = file(b"{\"a\":1}\n{\"b\":");
        let (_, lines, raw, cursor) = drain(&path, None);
        assert_eq!(lines, ["1 0 {\"a\":1}"]);
        assert_eq!(raw, b"{\"a\":1}\n");
        append(&path, b"2}\n");
        let (start, lines, raw, _) = drain(&path, Some(&cursor));
        assert_eq!(start, Start::Continued);
        assert_eq!(lines, ["2 8 {\"b\":2}"]);
        assert_eq!(raw, b"{\"b\":2}\n");
    }

    #[test]
    fn a_whole_last_line_needs_no_newline_and_its_newline_is_no_line() {
        let (_dir, path) = file(b"{\"a\":1}");
        let (_, lines, raw, cursor) = drain(&path, None);
        assert_eq!((lines.len(), raw.len()), (1, 7));
        let (_, lines, raw, again) = drain(&path, Some(&cursor));
        assert_eq!((lines.len(), raw.len()), (0, 0));
        append(&path, b"\n{\"b\":2}\n");
        let (start, lines, raw, _) = drain(&path, Some(&again));
        assert_eq!(start, Start::Continued);
        assert_eq!(lines, ["2 8 {\"b\":2}"]);
        assert_eq!(raw, b"\n{\"b\":2}\n");
    }

    #[test]
    fn a_rewritten_file_restarts_whatever_its_size() {
        let (_dir, path) = file(b"{\"a\":1}\n{\"b\":2}\n");
        let (.., cursor) = drain(&path, None);
        for rewritten in ["{\"a\":9}\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":9}\n", "{\"a\":1}\n"] {
            fs::write(&path, rewritten).expect("writes");
            assert_eq!(drain(&path, Some(&cursor)).0, Start::Restarted, "{rewritten}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_itself_alone_and_none_of_its_bytes() {
        let mut bytes = b"{\"a\":1}\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', MAX_LINE_BYTES + 3 * MAX_PIECE_BYTES));
        bytes.extend_from_slice(b"\n{\"b\":2}\n");
        let (_dir, path) = file(&bytes);
        let mut cursor = None;
        let mut lines = Vec::new();
        let mut raw = Vec::new();
        loop {
            // A new reader for each line: the place survives in the middle of the long one.
            let mut tail = Tail::open(&path, cursor.as_ref()).expect("opens");
            let Some(line) = tail.next_line().expect("reads") else { break };
            lines.push(match line.body {
                LineBody::Whole(_) => format!("{}", line.number),
                LineBody::Piece => "piece".to_owned(),
                LineBody::TooLong => format!("{} too long", line.number),
            });
            raw.extend(tail.take_raw());
            cursor = Some(tail.cursor());
        }
        lines.dedup();
        assert_eq!(lines, ["1", "piece", "2 too long", "3"]);
        assert!(raw == bytes, "the pieces are not the file");
    }

    #[test]
    fn a_compressed_file_reads_like_the_plain_one_and_continues_it() {
        let (dir, path) = file(b"{\"a\":1}\n{\"b\":2}\n");
        let (.., cursor) = drain(&path, None);
        let packed = dir.path().join("x.jsonl.zst");
        let whole = b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n";
        fs::write(&packed, zstd::encode_all(&whole[..], 3).expect("packs")).expect("writes");
        assert_eq!(drain(&packed, None).1.len(), 3);
        let (start, lines, ..) = drain(&packed, Some(&cursor));
        assert_eq!((start, lines.len()), (Start::Continued, 1));
    }
}
