//! The index follows the store: in commit order, from where its own last commit says it is.

use std::collections::{HashMap, hash_map::Entry};

use ai_hist_index::{Doc, Index};
use ai_hist_store::{Origin, SessionRow, Store, StoredEvent, StoredSession};

use crate::{
    IngestError, Phase, Progress,
    limits::{INDEX_WRITER_BYTES, MAX_COMMIT_EVENTS, MAX_FOLLOW_EVENTS},
};

/// Indexes what the store has and the index has not. Gives how many events that was.
///
/// Only the leader calls this: a second writer is refused by the index's own lock.
pub fn follow(
    store: &Store,
    index: &Index,
    on_progress: &dyn Fn(Progress),
) -> Result<u64, IngestError> {
    let last = store.last_row()?;
    if index.watermark() == last {
        return Ok(0);
    }
    let mut writer = index.writer(INDEX_WRITER_BYTES, 1)?;
    if last < writer.watermark() {
        // The store is an older one, brought back from a backup: the index knows of what it lost.
        writer.restart()?;
    }
    let first = writer.watermark();
    let mut sessions = HashMap::new();
    let mut row = first;
    let mut n_uncommitted = 0;
    let mut n_events = 0;
    loop {
        let events = store.events_after(row, MAX_FOLLOW_EVENTS)?;
        let Some(newest) = events.last().map(|it| it.row) else { break };
        for event in &events {
            if let Some(session) = session(store, &mut sessions, event.session)? {
                writer.add(&doc(event, session))?;
            }
        }
        row = newest;
        n_events += events.len() as u64;
        n_uncommitted += events.len() as u64;
        if MAX_COMMIT_EVENTS <= n_uncommitted {
            writer.commit(row)?;
            n_uncommitted = 0;
        }
        let (done, total) = (row - first, last.max(row) - first);
        on_progress(Progress { phase: Phase::Indexing, done, total });
    }
    // The last row may have been removed again; what is indexed goes up to it all the same.
    let row = row.max(last);
    if 0 < n_uncommitted || writer.watermark() != row {
        writer.commit(row)?;
    }
    writer.close()?;
    Ok(n_events)
}

/// What a document says of its session, looked up once for each.
fn session<'a>(
    store: &Store,
    known: &'a mut HashMap<SessionRow, Option<StoredSession>>,
    row: SessionRow,
) -> Result<Option<&'a StoredSession>, IngestError> {
    let session = match known.entry(row) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let session = store.session_of_row(row)?;
            entry.insert(match session {
                Some(session) if is_shadowed(store, &session)? => None,
                session => session,
            })
        }
    };
    Ok(session.as_ref())
}

/// Whether the session is a fetched copy of one that this machine has itself: it would be found
/// twice.
fn is_shadowed(store: &Store, session: &StoredSession) -> Result<bool, IngestError> {
    if session.origin.is_local() {
        return Ok(false);
    }
    Ok(store.session(&Origin::local(), &session.facts.key)?.is_some())
}

fn doc<'a>(event: &'a StoredEvent, session: &'a StoredSession) -> Doc<'a> {
    let doc = Doc {
        row: event.row,
        session: event.session.0.unsigned_abs(),
        kind: event.kind,
        agent: session.facts.key.agent.as_str(),
        project: session.facts.cwd.as_deref().unwrap_or_default(),
        at: event.at,
        tool: "",
        path: "",
        text: "",
    };
    doc.with_body(&event.body)
}
