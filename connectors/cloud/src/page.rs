//! A page: a run of lines, compressed, and its place in the chain. Never spoilt once it is kept.

use std::io;

use ai_hist_connector::{ConnectorError, model::SessionKey};

use crate::{
    hash::Hash,
    limits::{MAX_LINE_BYTES, MAX_PAGE_BYTES, MAX_PAGE_EVENTS},
    lines::Lines,
};

/// Lines of [`wire`](crate::wire), each with its newline, as one zstd frame.
const ZSTD_LINES: u64 = 1;

const LEVEL: i32 = 3;

/// A page as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// The number of its first event.
    pub(crate) first_seq: u64,
    /// How many events it has; at least one.
    pub(crate) n_events: u64,
    /// Where its lines begin among all lines of the generation.
    pub(crate) first_byte: u64,
    /// How many bytes its lines have.
    pub(crate) n_bytes: u64,
    /// How the lines are packed.
    pub(crate) codec: u64,
    /// The hash of the numbers above and of the body.
    pub(crate) sha256: Hash,
    /// The chain after this page.
    pub(crate) chain: Hash,
    /// The lines, packed.
    pub(crate) body: Vec<u8>,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the next event.
    pub(crate) seq: u64,
    /// Bytes of lines before it.
    pub(crate) byte: u64,
    /// The chain so far.
    pub(crate) chain: Hash,
}

impl Page {
    /// The place after this page.
    pub(crate) const fn end(&self) -> Place {
        Place {
            seq: self.first_seq.saturating_add(self.n_events),
            byte: self.first_byte.saturating_add(self.n_bytes),
            chain: self.chain,
        }
    }

    /// Unpacks the lines. What is not exactly what was packed is an error that names the page.
    pub(crate) fn unpack(&self, session: &SessionKey) -> Result<Lines, ConnectorError> {
        let damaged = |what: &str| Err(self.damaged(session, what));
        if self.digest() != self.sha256 {
            return damaged("is not what was pushed");
        }
        if self.codec != ZSTD_LINES {
            return damaged(&format!("is packed in way {}, which is not known here", self.codec));
        }
        let n_bytes = usize::try_from(self.n_bytes).unwrap_or(usize::MAX);
        if MAX_LINE_BYTES < n_bytes {
            return damaged("unpacks to more than is allowed");
        }
        let Ok(bytes) = zstd::bulk::decompress(&self.body, n_bytes) else {
            return damaged("cannot be unpacked");
        };
        let lines = Lines::of(bytes);
        if lines.bytes().len() != n_bytes || lines.len() as u64 != self.n_events {
            return damaged("does not hold what it says");
        }
        Ok(lines)
    }

    /// Says that this page does not follow `before`, if it does not.
    pub(crate) fn follows(
        &self,
        before: &Place,
        session: &SessionKey,
    ) -> Result<(), ConnectorError> {
        let is_next = self.first_seq == before.seq && self.first_byte == before.byte;
        if is_next && 0 < self.n_events && self.chain == before.chain.then(&self.sha256) {
            return Ok(());
        }
        Err(self.damaged(session, "does not follow the one before it"))
    }

    pub(crate) fn damaged(&self, session: &SessionKey, what: &str) -> ConnectorError {
        damaged(session, self.first_seq, what)
    }

    fn digest(&self) -> Hash {
        let Self { first_seq, n_events, first_byte, n_bytes, codec, .. } = self;
        let numbers = format!("{first_seq} {n_events} {first_byte} {n_bytes} {codec}\n");
        Hash::of(&[numbers.as_bytes(), &self.body])
    }
}

/// The error that names a page of `session`.
pub(crate) fn damaged(session: &SessionKey, first_seq: u64, what: &str) -> ConnectorError {
    ConnectorError::Damaged { what: format!("the page at event {first_seq} of `{session}` {what}") }
}

/// Packs `lines` into pages that begin at `place`.
pub(crate) fn pack(lines: &Lines, mut place: Place) -> io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut first = 0;
    while first < lines.len() {
        let mut end = first + 1;
        while end < lines.len()
            && end - first < MAX_PAGE_EVENTS
            && lines.slice(first, end + 1).len() <= MAX_PAGE_BYTES
        {
            end += 1;
        }
        let page = pack_one(lines.slice(first, end), end - first, place)?;
        place = page.end();
        pages.push(page);
        first = end;
    }
    Ok(pages)
}

fn pack_one(bytes: &[u8], n_events: usize, place: Place) -> io::Result<Page> {
    let mut page = Page {
        first_seq: place.seq,
        n_events: n_events as u64,
        first_byte: place.byte,
        n_bytes: bytes.len() as u64,
        codec: ZSTD_LINES,
        sha256: place.chain,
        chain: place.chain,
        body: zstd::bulk::compress(bytes, LEVEL)?,
    };
    page.sha256 = page.digest();
    page.chain = place.chain.then(&page.sha256);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use ai_hist_connector::model::{AgentId, NativeSessionId};

    use super::*;

    fn session() -> SessionKey {
        let native = NativeSessionId::parse("s-1").expect("is harmless");
        SessionKey { agent: AgentId::from_static("claude"), native }
    }

    fn start() -> Place {
        Place { seq: 0, byte: 0, chain: Hash::seed("team", &session()) }
    }

    fn lines(lengths: &[usize]) -> Lines {
        let bytes = lengths.iter().flat_map(|it| [&vec![b'x'; *it - 1][..], b"\n"].concat());
        Lines::of(bytes.collect())
    }

    #[test]
    fn a_page_is_full_by_events_or_by_bytes() {
        let half = MAX_PAGE_BYTES / 2;
        for (lengths, expected) in [
            (vec![], vec![]),
            (vec![2], vec![1]),
            (vec![2; MAX_PAGE_EVENTS], vec![200]),
            (vec![2; MAX_PAGE_EVENTS + 1], vec![200, 1]),
            (vec![half, half], vec![2]),
            (vec![half, half + 1], vec![1, 1]),
            (vec![2, MAX_PAGE_BYTES * 3, 2], vec![1, 1, 1]),
        ] {
            let lines = lines(&lengths);
            let pages = pack(&lines, start()).expect("packs");
            let counts: Vec<u64> = pages.iter().map(|it| it.n_events).collect();
            assert_eq!(counts, expected, "{} lines", lengths.len());
            let mut place = start();
            let mut unpacked = Vec::new();
            for page in &pages {
                page.follows(&place, &session()).expect("follows");
                unpacked.extend_from_slice(page.unpack(&session()).expect("unpacks").bytes());
                place = page.end();
            }
            assert_eq!(unpacked, lines.bytes());
            assert_eq!(place.byte, lines.bytes().len() as u64);
        }
    }

    #[test]
    fn any_change_of_a_page_is_seen() {
        let page = pack(&lines(&[10, 20]), start()).expect("packs").remove(0);
        let spoilers: &[fn(&mut Page)] = &[
            |it| it.body[5] ^= 1,
            |it| it.body.truncate(3),
            |it| it.body.clear(),
            |it| it.n_events = 1,
            |it| it.n_bytes = 29,
            |it| it.n_bytes = u64::MAX,
            |it| it.first_byte = 1,
            |it| it.codec = 2,
            |it| it.sha256.0[0] ^= 1,
        ];
        for (i, spoil) in spoilers.iter().enumerate() {
            let mut spoilt = page.clone();
            spoil(&mut spoilt);
            let error = spoilt.unpack(&session()).expect_err("refuses").to_string();
            assert!(error.contains("the page at event 0 of `claude:s-1`"), "{i}: {error}");
            // Whoever changes the hash too breaks the chain.
            spoilt.sha256 = spoilt.digest();
            assert!(spoilt.follows(&start(), &session()).is_err() || i == 8, "{i}");
        }
        let elsewhere = Place { chain: Hash::seed("other", &session()), ..start() };
        assert!(page.follows(&elsewhere, &session()).is_err());
    }
}
