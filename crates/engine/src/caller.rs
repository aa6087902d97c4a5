//! Which session is calling.

use std::{path::Path, thread, time::Instant};

use ai_hist_connector::{Call, Caller, Patience};
use ai_hist_ingest::Source;
use ai_hist_model::SessionKey;
use serde_json::{Map, Value};

use crate::{
    EngineError,
    limits::{CALLER_PAUSE, MAX_CALLER_WAIT},
};

/// What a client tells about itself with a call.
#[derive(Debug, Clone, Default)]
pub struct CallerHints {
    /// Its name, as given at the handshake.
    pub client: Option<String>,
    /// The request's `_meta`.
    pub meta: Map<String, Value>,
}

/// The session that makes the call, as far as the sources can tell.
pub(crate) fn find(
    sources: &[Source],
    hints: &CallerHints,
    cwd: Option<&Path>,
    parent_pid: Option<u32>,
) -> Result<SessionKey, EngineError> {
    let begun = Instant::now();
    loop {
        let patience =
            if begun.elapsed() < MAX_CALLER_WAIT { Patience::More } else { Patience::Exhausted };
        let call =
            Call { client: hints.client.as_deref(), meta: &hints.meta, cwd, parent_pid, patience };
        let answer = ask(sources, &call)?;
        match answer {
            Answer::NotYet if patience == Patience::More => thread::sleep(CALLER_PAUSE),
            Answer::NotYet | Answer::Nobody => return Err(EngineError::CallerUnavailable),
            Answer::One(session) => return Ok(session),
            Answer::Missing(session) => {
                return Err(EngineError::CallerNotFound { session: session.to_string() });
            }
            Answer::Several(sessions) => {
                let candidates = sessions.iter().map(ToString::to_string).collect();
                return Err(EngineError::CallerAmbiguous { candidates });
            }
        }
    }
}

enum Answer {
    One(SessionKey),
    NotYet,
    Missing(SessionKey),
    Several(Vec<SessionKey>),
    Nobody,
}

/// Asks each source. A certain answer wins, then one that may yet become certain.
fn ask(sources: &[Source], call: &Call<'_>) -> Result<Answer, EngineError> {
    let mut is_coming = false;
    let mut missing = None;
    let mut candidates = Vec::new();
    for source in sources {
        match source.connector.caller(call)? {
            Caller::NotMine => {}
            Caller::NotYet => is_coming = true,
            Caller::Session(session) => return Ok(Answer::One(session)),
            Caller::Missing(session) => missing = missing.or(Some(session)),
            Caller::Candidates(mut sessions) => candidates.append(&mut sessions),
        }
    }
    if is_coming {
        return Ok(Answer::NotYet);
    }
    Ok(match (candidates.len(), missing) {
        (0, Some(session)) => Answer::Missing(session),
        (0, None) => Answer::Nobody,
        (1, _) => Answer::One(candidates.remove(0)),
        _ => Answer::Several(candidates),
    })
}
