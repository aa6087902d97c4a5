//! Bringing one session up to date, now: what a handoff asks for.

use ai_hist_model::SessionKey;
use ai_hist_store::{Commit, Origin, Step, Store, StoreError, Writer};

use crate::{IngestError, Source, pass::Pass};

/// Reads what `source` has of `session` beyond what the store holds, into the copy of `origin`.
/// Gives whether the source has the session at all.
///
/// Takes no leader's place: it must work while another process leads, also while that one is
/// stopped.
pub fn refresh(
    store: &Store,
    source: &Source,
    origin: &Origin,
    session: &SessionKey,
) -> Result<bool, IngestError> {
    let feeds = source.connector.locate(session)?;
    let mut writer = store.writer()?;
    for feed in &feeds {
        let state = store.feed_state(&source.id, &feed.id)?;
        let cursor = state.and_then(|it| it.cursor);
        let pass = Pass { source, origin: origin.clone(), feed, cursor, is_rewritten: false };
        let mut stored = Ok(());
        let read = pass.run(&mut |step| {
            stored = keep(&mut writer, origin, session, step);
            stored.is_ok()
        });
        stored?;
        if let Err(error) = read {
            writer.commit(&[pass.failure(&error)])?;
            return Err(error.into());
        }
    }
    Ok(!feeds.is_empty())
}

/// Takes in one step. A copy whose session was replaced in its workspace begins anew.
fn keep(
    writer: &mut Writer<'_>,
    origin: &Origin,
    session: &SessionKey,
    step: Step,
) -> Result<(), StoreError> {
    let is_replaced = matches!(step.commit, Commit::Batch { restarted: true, .. });
    if is_replaced && !origin.is_local() {
        writer.clear_copy(origin, session)?;
    }
    writer.commit(&[step])?;
    Ok(())
}
