//! Files beside the rollouts that hold a line for each of many threads: their names, and what was
//! typed in them.
//!
//! What a line is worth depends on whether its thread has a rollout, which is looked at once for
//! each pass.

use std::{mem, path::Path};

use ai_hist_connector::{
    Budget, ConnectorError, FeedReader, Stamp, Start,
    jsonl::{self, LineBody, Tail},
    model::{Batch, Cursor, Event, SessionFacts, Skipped, Span, Tally},
};

use super::{prompts::Prompts, titles::Titles};
use crate::discover::{LedgerKind, Roots};

/// One pass over such a file.
#[derive(Debug)]
pub(crate) struct Ledger {
    tail: Tail,
    content: Content,
    page: Page,
    raw: Vec<u8>,
    /// How many lines have been taken since the beginning of the file.
    n_lines: u64,
    /// After the last line that was taken.
    place: Cursor,
    /// The lines that are left for a later pass. There are some only at the end of a pass.
    waiting: Option<Vec<u8>>,
}

/// What a ledger holds.
#[derive(Debug)]
enum Content {
    Titles(Titles),
    Prompts(Prompts),
}

/// What is read until the batch is full.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) sessions: Vec<SessionFacts>,
    pub(super) events: Vec<Event>,
    tally: Tally,
    skipped: Vec<Skipped>,
}

/// What becomes of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It gave something.
    Understood(&'static str),
    /// It gives nothing, for the reason that the name says.
    Ignored(&'static str),
    /// It cannot be read.
    Damaged(String),
    /// It, and all after it, is left for a later pass.
    Waits,
}

impl Ledger {
    pub(crate) fn open(
        kind: LedgerKind,
        path: &Path,
        stamp: Option<Stamp>,
        roots: &Roots,
        cursor: Option<&Cursor>,
    ) -> Result<Self, ConnectorError> {
        let place = cursor.and_then(parts);
        let mut tail = Tail::open(path, place.as_ref().map(|it| &it.0))?;
        let (n_lines, said) = place.map_or((0, ""), |it| (it.1, it.2));
        let content = match kind {
            LedgerKind::Titles => {
                let threads = roots.threads().named;
                Content::Titles(Titles::resume(path, &mut tail, threads, n_lines, said)?)
            }
            LedgerKind::Prompts => {
                let written = stamp.map(|it| it.modified_ms).filter(|it| *it != 0);
                let is_rewritten = tail.start() == Start::Restarted;
                let threads = roots.threads().whole()?;
                Content::Prompts(Prompts::resume(threads, written, is_rewritten, said))
            }
        };
        let n_lines = if tail.start() == Start::Restarted { 0 } else { n_lines };
        let (page, raw, place) = (Page::default(), Vec::new(), tail.cursor());
        Ok(Self { tail, content, page, raw, n_lines, place, waiting: None })
    }

    /// Takes the bytes of the lines that were given out.
    fn take(&mut self) {
        self.raw.extend(self.tail.take_raw());
        self.place = self.tail.cursor();
    }
}

impl FeedReader for Ledger {
    fn start(&self) -> Start {
        self.tail.start()
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        let mut n_records = 0;
        while self.waiting.is_none() && n_records < budget.records && self.raw.len() < budget.bytes
        {
            let Some(line) = self.tail.next_line()? else {
                // What ended a line that was given out without its end.
                self.take();
                break;
            };
            let number = line.number;
            let fate = match line.body {
                LineBody::Whole(bytes) => self.content.read(bytes, line.span, &mut self.page),
                LineBody::TooLong => Fate::Damaged("longer than any record may be".to_owned()),
                LineBody::Piece => {
                    self.take();
                    continue;
                }
            };
            if fate == Fate::Waits {
                self.waiting = Some(self.tail.set_aside()?);
                break;
            }
            n_records += 1;
            self.n_lines = number;
            self.page.count(number, fate);
            self.take();
        }
        if n_records == 0 && self.raw.is_empty() {
            return Ok(None);
        }
        let Page { sessions, events, tally, skipped } = mem::take(&mut self.page);
        let raw = mem::take(&mut self.raw);
        let (place, said) = (self.place.as_str(), self.content.words());
        let cursor = Cursor::new(format!("{place}|{}|{said}", self.n_lines));
        Ok(Some(Batch { sessions, events, usage: Vec::new(), tally, skipped, raw, cursor }))
    }

    fn rest(&self) -> &[u8] {
        self.waiting.as_deref().unwrap_or_else(|| self.tail.rest())
    }
}

impl Content {
    fn read(&mut self, bytes: &[u8], span: Span, page: &mut Page) -> Fate {
        let text = jsonl::text(bytes);
        if text.is_empty() {
            return Fate::Ignored("blank");
        }
        match self {
            Self::Titles(titles) => titles.read(&text, page),
            Self::Prompts(prompts) => prompts.read(&text, span, page),
        }
    }

    /// What is remembered from one pass to the next.
    fn words(&self) -> String {
        match self {
            Self::Titles(titles) => titles.words(),
            Self::Prompts(prompts) => prompts.words(),
        }
    }
}

impl Page {
    /// Counts a line.
    fn count(&mut self, number: u64, fate: Fate) {
        let (kinds, kind) = match fate {
            Fate::Understood(kind) => (&mut self.tally.understood, kind),
            Fate::Ignored(kind) => (&mut self.tally.ignored, kind),
            Fate::Damaged(reason) => {
                self.tally.damaged += 1;
                self.skipped.push(Skipped { locator: format!("line {number}"), reason });
                return;
            }
            Fate::Waits => return,
        };
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
}

/// The tail's cursor, the number of lines before it, and what the content said.
fn parts(cursor: &Cursor) -> Option<(Cursor, u64, &str)> {
    let mut parts = cursor.as_str().splitn(3, '|');
    let tail = Cursor::new(parts.next()?.to_owned());
    Some((tail, parts.next()?.parse().ok()?, parts.next()?))
}

#[cfg(test)]
mod tests;
