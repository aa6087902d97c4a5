//! One pass over one rollout.

mod bare;
mod envelope;
mod event_msg;
mod fact;
mod inherited;
mod item;
mod json;
mod ledger;
mod output;
mod patch;
mod prompt;
mod prompts;
mod response_item;
mod scribe;
mod state;
mod titles;
mod tool;
mod voice;
mod words;
mod work;

use std::{collections::VecDeque, path::Path};

use ai_hist_connector::{
    Budget, ConnectorError, FeedReader, Start,
    jsonl::{LineBody, Tail},
    model::{Batch, Cursor, NativeSessionId, SessionFacts, SessionKey},
};
use xxhash_rust::xxh3::xxh3_64;

use crate::{discover::Name, limits::MAX_HEAD_LINES, session_key};
pub(crate) use ledger::Ledger;
use scribe::Draft;
use state::{PendingPatch, State};

/// Reads one rollout from a place on.
#[derive(Debug)]
pub(crate) struct Reader {
    tail: Tail,
    state: State,
    session: SessionKey,
    /// The session has not been named in this pass, and it began at the beginning.
    is_new: bool,
}

impl Reader {
    pub(crate) fn open(path: &Path, cursor: Option<&Cursor>) -> Result<Self, ConnectorError> {
        let place = cursor.and_then(State::parse);
        let tail = Tail::open(path, place.as_ref().map(|it| &it.0))?;
        let mut state = match (tail.start(), place) {
            (Start::Continued, Some((_, state))) => state,
            (Start::Continued | Start::Restarted, _) => State::default(),
        };
        let native = match Name::of(path).and_then(|it| it.thread()) {
            Some(thread) => thread,
            None => state.unnamed_session.get_or_insert(session_in(path)?).clone(),
        };
        reload(path, &mut state.patches)?;
        let is_new = tail.start() == Start::Restarted;
        Ok(Self { tail, state, session: session_key(native), is_new })
    }
}

impl FeedReader for Reader {
    fn start(&self) -> Start {
        self.tail.start()
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        let mut draft = Draft::new(SessionFacts::about(self.session.clone()), self.is_new);
        let mut n_records = 0;
        let mut n_lines = 0;
        while let Some(line) = self.tail.next_line()? {
            n_lines += 1;
            match line.body {
                LineBody::Whole(bytes) => {
                    n_records += 1;
                    envelope::read(bytes, line.number, line.span, &mut self.state, &mut draft);
                }
                LineBody::TooLong => {
                    n_records += 1;
                    draft.damaged(line.number, "longer than any record may be".to_owned());
                }
                LineBody::Piece => {}
            }
            if budget.records <= n_records || budget.bytes <= self.tail.n_untaken() {
                break;
            }
        }
        if n_lines == 0 && self.tail.n_untaken() == 0 {
            return Ok(None);
        }
        self.is_new = false;
        let raw = self.tail.take_raw();
        let cursor = self.state.cursor(&self.tail.cursor());
        Ok(Some(draft.into_batch(raw, cursor)))
    }

    fn rest(&self) -> &[u8] {
        self.tail.rest()
    }
}

/// The session that a rollout holds whose name does not say: the first that it mentions, or one
/// named after the file.
pub(crate) fn session_in(path: &Path) -> Result<NativeSessionId, ConnectorError> {
    let mut tail = Tail::open(path, None)?;
    for _ in 0..MAX_HEAD_LINES {
        let Some(line) = tail.next_line()? else {
            break;
        };
        if let LineBody::Whole(bytes) = line.body
            && let Some(session) = envelope::session_of(bytes)
        {
            return Ok(session);
        }
        tail.take_raw();
    }
    let stem = Name::of(path).map(|it| it.stem).unwrap_or_default();
    let numbered = || NativeSessionId::parse(&format!("rollout-{:016x}", xxh3_64(stem.as_bytes())));
    Ok(NativeSessionId::parse(&stem).or_else(numbered).expect("hex digits are harmless"))
}

/// Reads the patches again that waited for their results when the last pass ended.
///
/// From the beginning and only as far as needed: a compressed rollout has no other way, and it is
/// rare that a pass ends between a call and its result.
fn reload(path: &Path, patches: &mut VecDeque<PendingPatch>) -> Result<(), ConnectorError> {
    let Some(last) = patches.iter().map(|it| it.first_byte).max() else {
        return Ok(());
    };
    let mut tail = Tail::open(path, None)?;
    while let Some(line) = tail.next_line()? {
        let first_byte = line.span.first_byte;
        if last < first_byte {
            break;
        }
        if let LineBody::Whole(bytes) = line.body {
            for patch in patches.iter_mut().filter(|it| it.first_byte == first_byte) {
                patch.edits = envelope::patch_of(bytes);
            }
        }
        tail.take_raw();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
