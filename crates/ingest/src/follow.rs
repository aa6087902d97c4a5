//! The index follows the store: in commit order, from where its own last commit says it is.

use std::collections::{HashMap, hash_map::Entry};

use ai_hist_index::{Doc, Index, IndexError, Mark, Writer};
use ai_hist_model::EventKind;
use ai_hist_store::{Copied, EventWords, Origin, SessionRow, Store, StoredSession};

use crate::{
    IngestError, Phase, Progress,
    limits::{INDEX_WRITER_BYTES, MAX_COMMIT_EVENTS, MAX_FOLLOW_EVENTS, MAX_REINDEX_SESSIONS},
};

/// Indexes what the store has and the index has not. Gives how many events that was.
///
/// Only the leader calls this: a second writer is refused by the index's own lock.
pub fn follow(
    store: &Store,
    index: &Index,
    on_progress: &dyn Fn(Progress),
) -> Result<u64, IngestError> {
    let last = end(store)?;
    if index.mark() == last {
        return Ok(0);
    }
    ai_hist_fault::point("ingest::follow").map_err(IndexError::from)?;
    let mut writer = index.writer(INDEX_WRITER_BYTES, 1)?;
    if last.row < writer.mark().row || last.reindex < writer.mark().reindex {
        // The store is an older one, brought back from a backup: the index knows of what it lost.
        writer.restart()?;
    }
    let first = writer.mark();
    let mut following =
        Following { store, writer, sessions: HashMap::new(), mark: first, n_uncommitted: 0 };
    let mut n_events = following.again()?;
    while let Some(n) = following.on()? {
        n_events += n;
        let (done, total) = (following.mark.row - first.row, last.row.max(following.mark.row));
        on_progress(Progress { phase: Phase::Indexing, done, total: total - first.row });
    }
    // The last row may have been removed again; what is indexed goes up to it all the same.
    following.mark.row = following.mark.row.max(last.row);
    if following.mark != following.writer.mark() {
        following.commit()?;
    }
    following.writer.close()?;
    Ok(n_events)
}

/// Whether the index lacks something that the store has.
pub fn is_behind(store: &Store, index: &Index) -> Result<bool, IngestError> {
    Ok(index.mark() != end(store)?)
}

/// How far there is to follow.
fn end(store: &Store) -> Result<Mark, IngestError> {
    Ok(Mark { row: store.last_row()?, reindex: store.last_reindex()? })
}

/// An index on its way.
struct Following<'a> {
    store: &'a Store,
    writer: Writer,
    sessions: HashMap<SessionRow, Option<Known>>,
    mark: Mark,
    n_uncommitted: u64,
}

/// What a document says of its session.
struct Known {
    agent: String,
    project: String,
}

impl Following<'_> {
    /// Indexes anew the sessions that were put down for it, as far as they are indexed.
    fn again(&mut self) -> Result<u64, IngestError> {
        let mut n_events = 0;
        loop {
            let entries = self.store.reindex_after(self.mark.reindex, MAX_REINDEX_SESSIONS)?;
            let Some(last) = entries.last().map(|it| it.id) else { return Ok(n_events) };
            let mut sessions: Vec<SessionRow> = entries.iter().map(|it| it.session).collect();
            sessions.sort_unstable();
            sessions.dedup();
            for session in sessions {
                self.writer.remove_session(session.0.unsigned_abs());
                n_events += self.session_again(session)?;
            }
            self.mark.reindex = last;
            self.n_uncommitted += 1;
        }
    }

    /// Adds the events of a session that had been indexed before.
    fn session_again(&mut self, session: SessionRow) -> Result<u64, IngestError> {
        let Some(known) = known(self.store, session)? else { return Ok(0) };
        let (writer, row) = (&mut self.writer, self.mark.row);
        let mut added = Ok(0);
        let mut from = 0;
        loop {
            let n = self.store.words_of_session(session, from, MAX_FOLLOW_EVENTS, &mut |it| {
                if it.row <= row {
                    add(writer, it, &known, &mut added);
                }
            })?;
            if n == 0 {
                return added;
            }
            from += n as u64;
        }
    }

    /// Goes on in commit order. `None` at the end.
    fn on(&mut self) -> Result<Option<u64>, IngestError> {
        let (store, writer, sessions) = (self.store, &mut self.writer, &mut self.sessions);
        let mut added = Ok(0);
        let last = store.words_after(self.mark.row, MAX_FOLLOW_EVENTS, &mut |it| {
            let known = match sessions.entry(it.session) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => match known(store, it.session) {
                    Ok(known) => entry.insert(known),
                    Err(error) => {
                        added = Err(error);
                        return;
                    }
                },
            };
            if let Some(known) = known {
                add(writer, it, known, &mut added);
            }
        })?;
        let n_added = added?;
        let Some(last) = last else { return Ok(None) };
        self.mark.row = last;
        self.n_uncommitted += n_added;
        if MAX_COMMIT_EVENTS <= self.n_uncommitted {
            self.commit()?;
        }
        Ok(Some(n_added))
    }

    fn commit(&mut self) -> Result<(), IngestError> {
        self.writer.commit(self.mark)?;
        self.n_uncommitted = 0;
        Ok(())
    }
}

/// Adds an event, unless adding failed before or the session it was copied from has it.
fn add(
    writer: &mut Writer,
    event: &EventWords<'_>,
    session: &Known,
    added: &mut Result<u64, IngestError>,
) {
    let Ok(n_added) = added else { return };
    if event.copied == Copied::Shared {
        return;
    }
    let is_call = event.kind == EventKind::ToolCall;
    let doc = Doc {
        row: event.row,
        session: event.session.0.unsigned_abs(),
        kind: event.kind,
        agent: &session.agent,
        project: &session.project,
        at: event.at,
        tool: if is_call { event.name } else { "" },
        path: event.path,
        text: event.text,
    };
    match writer.add(&doc) {
        Ok(()) => *n_added += 1,
        Err(error) => *added = Err(error.into()),
    }
}

/// What a document says of its session. `None` if the session is gone, or is a fetched copy of one
/// that this machine has itself: it would be found twice.
fn known(store: &Store, row: SessionRow) -> Result<Option<Known>, IngestError> {
    let Some(session) = store.session_of_row(row)? else { return Ok(None) };
    if is_shadowed(store, &session)? {
        return Ok(None);
    }
    Ok(Some(Known {
        agent: session.facts.key.agent.as_str().to_owned(),
        project: session.facts.cwd.unwrap_or_default(),
    }))
}

fn is_shadowed(store: &Store, session: &StoredSession) -> Result<bool, IngestError> {
    if session.origin.is_local() {
        return Ok(false);
    }
    Ok(store.session(&Origin::local(), &session.facts.key)?.is_some())
}
