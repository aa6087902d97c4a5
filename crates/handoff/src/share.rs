//! A session on its way into a workspace, and out of it.

use ai_hist_connector::{ConnectorError, Push, Workspace};
use ai_hist_ingest::{IngestError, Source, refresh};
use ai_hist_model::{Event, SessionFacts, SessionKey, Timestamp};
use ai_hist_redact::Redactor;
use ai_hist_store::{Origin, Store, StoreError, StoredSession};

use crate::{HandoffError, limits::MAX_PUSH_EVENTS, page::HydrationStatus};

/// A copy that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The copy.
    pub session: StoredSession,
    /// Whether anything had to be fetched.
    pub status: HydrationStatus,
    /// How many events could not be had.
    pub n_missing: u64,
}

/// Pushes what the workspace does not have of `session` yet, secrets replaced. Gives the revision
/// that the workspace then holds.
///
/// Another member may replace the session between two stretches; then the push begins once more
/// from what the workspace holds by then.
pub fn share(
    store: &Store,
    workspace: &dyn Workspace,
    redactor: &Redactor,
    session: &StoredSession,
    now: Timestamp,
) -> Result<String, HandoffError> {
    let pushed = match push(store, workspace, redactor, session, now) {
        Err(PushError::Workspace(ConnectorError::Conflict { .. })) => {
            push(store, workspace, redactor, session, now)
        }
        pushed => pushed,
    };
    pushed.map_err(|error| match error {
        PushError::Workspace(source) => HandoffError::Workspace { source },
        PushError::Store(error) => error.into(),
    })
}

/// Why a push failed.
enum PushError {
    Workspace(ConnectorError),
    Store(StoreError),
}

impl From<ConnectorError> for PushError {
    fn from(error: ConnectorError) -> Self {
        Self::Workspace(error)
    }
}

impl From<StoreError> for PushError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn push(
    store: &Store,
    workspace: &dyn Workspace,
    redactor: &Redactor,
    session: &StoredSession,
    now: Timestamp,
) -> Result<String, PushError> {
    let key = &session.facts.key;
    let facts = clean_facts(redactor, &session.facts);
    let mut first_seq = match workspace.head(key)? {
        Some(head) if 0 < head.n_events && head.n_events <= session.n_events => {
            let last = store.events_down(session.row, 0, head.n_events, 1)?;
            let is_ours = last.first().map(|it| it.id) == head.last;
            if is_ours { head.n_events } else { 0 }
        }
        Some(_) | None => 0,
    };
    loop {
        let stored = store.events_up(session.row, first_seq, session.n_events, MAX_PUSH_EVENTS)?;
        let events: Vec<Event> =
            stored.into_iter().map(|it| clean_event(redactor, it.into_event(key.id()))).collect();
        let head = workspace.push(&Push { facts: &facts, first_seq, events: &events, now })?;
        first_seq += events.len() as u64;
        if session.n_events <= first_seq || events.is_empty() {
            return Ok(head.revision);
        }
    }
}

/// Brings the copy of `session` up to date with its workspace, fetching only what is new.
pub fn fetch(
    store: &Store,
    source: &Source,
    workspace: &dyn Workspace,
    session: &SessionKey,
) -> Result<Fetched, HandoffError> {
    let membership = workspace.membership();
    let head = workspace.head(session).map_err(|source| HandoffError::Workspace { source })?;
    let Some(head) = head else {
        return Err(HandoffError::WorkspaceMismatch {
            workspace: membership.workspace,
            session: session.to_string(),
            is_local: store.session(&Origin::local(), session)?.is_some(),
        });
    };
    let origin = Origin::workspace(&source.id, &membership.workspace);
    if let Some(copy) = store.session(&origin, session)?
        && copy.revision.as_ref() == Some(&head.revision)
    {
        return Ok(Fetched { session: copy, status: HydrationStatus::Unchanged, n_missing: 0 });
    }
    refresh(store, source, &origin, session).map_err(|error| match error {
        IngestError::Connector(source) => HandoffError::Workspace { source },
        error @ (IngestError::Store(_)
        | IngestError::Index(_)
        | IngestError::Lock { .. }
        | IngestError::Copy { .. }) => HandoffError::Ingest(error),
    })?;
    store.writer()?.set_revision(&origin, session, &head.revision)?;
    let copy = store
        .session(&origin, session)?
        .ok_or_else(|| HandoffError::NotFound { reference: session.to_string() })?;
    let n_missing = head.n_events.saturating_sub(copy.n_events);
    let status = if n_missing == 0 { HydrationStatus::Fetched } else { HydrationStatus::Partial };
    Ok(Fetched { session: copy, status, n_missing })
}

fn clean_facts(redactor: &Redactor, facts: &SessionFacts) -> SessionFacts {
    let mut facts = facts.clone();
    if let Some(title) = &mut facts.title {
        clean(redactor, &mut title.text);
    }
    if let Some(remote) = &mut facts.git_remote {
        clean(redactor, remote);
    }
    facts
}

fn clean_event(redactor: &Redactor, mut event: Event) -> Event {
    clean(redactor, event.body.text_mut());
    event
}

fn clean(redactor: &Redactor, text: &mut String) {
    let redaction = redactor.redact(text);
    if !redaction.findings.is_empty() {
        *text = redaction.text.into_owned();
    }
}
