//! What a push means for a session as it stands.
//!
//! | the stretch | the outcome |
//! |---|---|
//! | begins past the end | a conflict: what lies between is missing |
//! | says what is held already | nothing changes |
//! | goes on after the end, or overlaps it | what is new is appended |
//! | says at some place another event than the one held | a new generation from that place on |
//!
//! A new generation takes over the pages before the place where it differs. Without that, a long
//! session that a newer parser reads otherwise in its middle could never be pushed again: it comes
//! in many stretches, and the first of them differs in nothing.

use ai_hist_connector::{
    ConnectorError, Push,
    model::{EventId, SessionKey, Timestamp},
};

use crate::{
    backend::{Change, Held, View},
    hash::Hash,
    limits::MAX_LINE_BYTES,
    lines::Lines,
    page::{self, Page, Place},
    wire,
};

/// A push, ready to be kept. Everything that takes time is done before the session is locked.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    session: &'a SessionKey,
    first_seq: u64,
    ids: Vec<EventId>,
    lines: Lines,
    facts: String,
    now: Timestamp,
    seed: Hash,
}

/// Where a stretch and what is held say different things.
struct Fork {
    /// The first event of which they do.
    seq: u64,
    /// Where the page that holds it begins, and its lines; `None` if it is damaged, and then it
    /// begins at `seq`.
    held: Option<(u64, Lines)>,
}

impl<'a> Stretch<'a> {
    pub(crate) fn new(push: &Push<'a>, workspace: &str) -> Result<Self, ConnectorError> {
        let session = &push.facts.key;
        let mut bytes = Vec::new();
        for event in push.events {
            if event.session != session.id() {
                return Err(ConnectorError::Unsupported { what: "push events of another session" });
            }
            let first = bytes.len();
            wire::write(event, &mut bytes).map_err(|_| UNWRITABLE)?;
            if MAX_LINE_BYTES < bytes.len() - first {
                return Err(ConnectorError::Unsupported { what: "push an event of this size" });
            }
        }
        Ok(Self {
            session,
            first_seq: push.first_seq,
            ids: push.events.iter().map(|it| it.id).collect(),
            lines: Lines::of(bytes),
            facts: wire::write_facts(push.facts).map_err(|_| UNWRITABLE)?,
            now: push.now,
            seed: Hash::seed(workspace, session),
        })
    }

    /// How the session stands after the push, and what is to be kept for it; `None` if nothing.
    pub(crate) fn decide(&self, view: &dyn View) -> Result<(Held, Option<Change>), ConnectorError> {
        let held = view.held()?;
        let n_held = held.as_ref().map_or(0, |it| it.n_events);
        if n_held < self.first_seq {
            return Err(ConnectorError::Conflict { held: n_held, first: self.first_seq });
        }
        let Some(held) = held else {
            let start = Place { seq: 0, byte: 0, chain: self.seed };
            return self.keep(self.begin(1, start), &self.lines, 0);
        };
        match self.fork(view, &held)? {
            Some(fork) => self.begin_anew(view, &held, fork),
            None => self.go_on(held),
        }
    }

    /// Appends what is beyond the end.
    fn go_on(&self, held: Held) -> Result<(Held, Option<Change>), ConnectorError> {
        let new = self.from(held.n_events);
        // An older copy of the session knows less of it than what is held.
        let is_older = self.end() < held.n_events;
        if new.len() == 0 && (is_older || self.facts == held.facts) {
            return Ok((held, None));
        }
        let facts = self.facts.clone();
        self.keep(Held { facts, updated: self.now, ..held }, &new, 0)
    }

    /// Begins a new generation at the page in which the two differ.
    fn begin_anew(
        &self,
        view: &dyn View,
        held: &Held,
        fork: Fork,
    ) -> Result<(Held, Option<Change>), ConnectorError> {
        let (seq, mut bytes) = match fork.held {
            Some((first_seq, lines)) => {
                let n_before = self.first_seq.saturating_sub(first_seq);
                let n_before = usize::try_from(n_before).unwrap_or(usize::MAX).min(lines.len());
                (first_seq, lines.slice(0, n_before).to_vec())
            }
            None => (fork.seq, Vec::new()),
        };
        bytes.extend_from_slice(self.from(seq).bytes());
        let place = self.place_at(view, held.generation, seq)?;
        self.keep(self.begin(held.generation + 1, place), &Lines::of(bytes), seq)
    }

    /// A generation that goes as far as `place`.
    fn begin(&self, generation: u64, place: Place) -> Held {
        Held {
            generation,
            n_events: place.seq,
            n_bytes: place.byte,
            head: place.chain,
            last: None,
            facts: self.facts.clone(),
            updated: self.now,
        }
    }

    /// Appends `lines`, the last of which is the stretch's last, to `held`.
    fn keep(
        &self,
        held: Held,
        lines: &Lines,
        inherits_below: u64,
    ) -> Result<(Held, Option<Change>), ConnectorError> {
        let place = Place { seq: held.n_events, byte: held.n_bytes, chain: held.head };
        let pages = page::pack(lines, place).map_err(|_| UNWRITABLE)?;
        let end = pages.last().map_or(place, Page::end);
        let held = Held {
            n_events: end.seq,
            n_bytes: end.byte,
            head: end.chain,
            last: self.ids.last().copied().or(held.last),
            ..held
        };
        Ok((held.clone(), Some(Change { held, inherits_below, pages })))
    }

    /// The first event of which the stretch and what is held say different things.
    fn fork(&self, view: &dyn View, held: &Held) -> Result<Option<Fork>, ConnectorError> {
        let end = self.end().min(held.n_events);
        let mut seq = self.first_seq;
        while seq < end {
            let page = view.page(held.generation, seq)?;
            let unpacked = match page {
                Some(page) => page.unpack(self.session).map(|lines| (page, lines)),
                None => Err(page::damaged(self.session, seq, "is missing")),
            };
            let (page, lines) = match unpacked {
                Ok(unpacked) => unpacked,
                // What is pushed here replaces what is damaged, if nothing before it is lost.
                Err(error) => match self.place_at(view, held.generation, seq) {
                    Ok(_) => return Ok(Some(Fork { seq, held: None })),
                    Err(_) => return Err(error),
                },
            };
            let page_end = page.end().seq.min(end);
            while seq < page_end {
                let at = usize::try_from(seq - page.first_seq).unwrap_or(usize::MAX);
                if self.id(seq) != wire::read_id(lines.line(at)) {
                    return Ok(Some(Fork { seq, held: Some((page.first_seq, lines)) }));
                }
                seq += 1;
            }
        }
        Ok(None)
    }

    /// The place before event `seq`, if a page ends there.
    fn place_at(
        &self,
        view: &dyn View,
        generation: u64,
        seq: u64,
    ) -> Result<Place, ConnectorError> {
        let Some(last) = seq.checked_sub(1) else {
            return Ok(Place { seq: 0, byte: 0, chain: self.seed });
        };
        let page = view.page(generation, last)?;
        page.map(|it| it.end())
            .filter(|it| it.seq == seq)
            .ok_or_else(|| page::damaged(self.session, last, "is missing"))
    }

    fn end(&self) -> u64 {
        self.first_seq + self.ids.len() as u64
    }

    fn id(&self, seq: u64) -> Option<EventId> {
        let at = usize::try_from(seq.checked_sub(self.first_seq)?).ok()?;
        self.ids.get(at).copied()
    }

    /// The lines from event `seq` on.
    fn from(&self, seq: u64) -> Lines {
        let skipped = usize::try_from(seq.saturating_sub(self.first_seq)).unwrap_or(usize::MAX);
        let first = skipped.min(self.lines.len());
        Lines::of(self.lines.slice(first, self.lines.len()).to_vec())
    }
}

/// Cannot happen: to write JSON of strings and numbers into memory, and to compress that, fails
/// only for want of memory.
const UNWRITABLE: ConnectorError = ConnectorError::Unsupported { what: "write this session" };
