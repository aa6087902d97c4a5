//! Handing a session over, and taking one.

use ai_hist_handoff::{
    HandoffError, PageRequest, Pager, Pointer, Reference, ResumePage, fetch, intent, resolve, share,
};
use ai_hist_ingest::{Source, refresh};
use ai_hist_model::{AgentId, NativeSessionId, SessionKey};
use ai_hist_redact::Redactor;
use ai_hist_store::{Origin, StoredSession};

use crate::{CallerHints, Engine, EngineError, caller, sources::Cloud};

/// What a handoff is asked to be.
#[derive(Debug, Clone, Default)]
pub struct HandoffRequest {
    /// What the receiver is to do.
    pub intent: String,
    /// The agent of the session, if the caller names one.
    pub source: Option<String>,
    /// The session, if the caller names one.
    pub session_id: Option<String>,
    /// What the client tells about itself.
    pub caller: CallerHints,
}

/// Which page of which session.
#[derive(Debug, Clone, Default)]
pub struct ResumeRequest {
    /// The agent that held it.
    pub source: String,
    /// The session.
    pub session_id: String,
    /// Which page.
    pub page: PageRequest,
}

impl Engine {
    /// Makes a pointer to a session, after bringing store and workspace up to this moment.
    pub fn create_handoff(&self, request: &HandoffRequest) -> Result<Pointer, EngineError> {
        let key = match (&request.source, &request.session_id) {
            (Some(source), Some(session_id)) => session_key(source, session_id)?,
            (None, None) => self.caller(&request.caller)?,
            (Some(_), None) => return Err(missing("session_id", "source")),
            (None, Some(_)) => return Err(missing("source", "session_id")),
        };
        let intent = intent(&key, &request.intent)?;
        let session = self.up_to_date(&key)?;
        let account = match &self.sources().cloud {
            Cloud::NotConfigured => None,
            Cloud::Ready(_) | Cloud::BadConfig(_) => self.share(self.cloud()?, &session)?,
        };
        let host = &self.setup.host;
        let origin_agent = host.var("AI_HIST_ORIGIN_AGENT").map(str::to_owned);
        let origin_user = host.var("AI_HIST_ORIGIN_USER").map(str::to_owned);
        let user = host.var("USER").or_else(|| host.var("USERNAME")).map(str::to_owned);
        Ok(Pointer {
            source: key.agent.to_string(),
            session_id: key.native.to_string(),
            intent,
            origin_agent: origin_agent
                .or_else(|| session.facts.originator.clone())
                .unwrap_or_else(|| key.agent.to_string()),
            origin_user: origin_user.or(account).or(user).unwrap_or_else(|| "unknown".to_owned()),
        })
    }

    /// A page of a session from the workspace.
    pub fn resume_handoff(&self, request: &ResumeRequest) -> Result<ResumePage, EngineError> {
        let source = self.cloud()?;
        let key = session_key(&request.source, &request.session_id)?;
        let store = self.store()?;
        let workspace = source.connector.workspace().ok_or(HandoffError::NotConfigured)?;
        let fetched = fetch(store, source, workspace, &key)?;
        let pager = Pager { store, redactor: Redactor::builtin() };
        Ok(pager.page(&fetched.session, fetched.status, fetched.n_missing, &request.page)?)
    }

    /// The session that makes a call.
    pub fn caller(&self, hints: &CallerHints) -> Result<SessionKey, EngineError> {
        let cwd = self.setup.cwd.as_deref();
        caller::find(&self.sources().local, hints, cwd, self.setup.parent_pid)
    }

    /// The name of the session that a person's `reference` means.
    pub fn key_of(&self, reference: &str) -> Result<SessionKey, EngineError> {
        Ok(self.current(reference)?.facts.key)
    }

    /// `source` and `session_id` as one reference, if both are well-formed.
    pub fn reference(&self, source: &str, session_id: &str) -> Result<String, EngineError> {
        Ok(session_key(source, session_id)?.to_string())
    }

    /// The session that a person's `reference` means.
    pub(crate) fn resolve(&self, reference: &str) -> Result<StoredSession, EngineError> {
        let reference = Reference::parse(reference, &self.agents());
        Ok(resolve(self.store()?, &reference)?)
    }

    /// A session of this machine, read to its present end.
    pub(crate) fn up_to_date(&self, key: &SessionKey) -> Result<StoredSession, EngineError> {
        let store = self.store()?;
        for source in self.sources().local.iter().filter(|it| it.id.as_str() == key.agent.as_str())
        {
            refresh(store, source, &Origin::local(), key)?;
        }
        let session = store.session(&Origin::local(), key)?;
        session.ok_or_else(|| EngineError::CallerNotFound { session: key.to_string() })
    }

    fn share(
        &self,
        source: &Source,
        session: &StoredSession,
    ) -> Result<Option<String>, EngineError> {
        let Some(workspace) = source.connector.workspace() else {
            return Ok(None);
        };
        share(self.store()?, workspace, Redactor::builtin(), session, self.now())?;
        Ok(Some(workspace.membership().account))
    }

    fn cloud(&self) -> Result<&Source, EngineError> {
        match &self.sources().cloud {
            Cloud::Ready(source) => Ok(source),
            Cloud::NotConfigured => Err(HandoffError::NotConfigured.into()),
            Cloud::BadConfig(error) => Err(error.clone().into()),
        }
    }
}

pub(crate) fn session_key(source: &str, session_id: &str) -> Result<SessionKey, EngineError> {
    let Some(agent) = AgentId::parse(source) else {
        let problem = "is no agent's name: 1 to 32 of a-z, 0-9 and `-`".to_owned();
        return Err(EngineError::InvalidArgument { argument: "source", problem });
    };
    let Some(native) = NativeSessionId::parse(session_id) else {
        let problem = "is no session id: 1 to 200 of A-Z, a-z, 0-9, `.`, `_`, `:` and `-`";
        let problem = problem.to_owned();
        return Err(EngineError::InvalidArgument { argument: "session_id", problem });
    };
    Ok(SessionKey { agent, native })
}

fn missing(argument: &'static str, given: &str) -> EngineError {
    let problem = format!("is missing: `{given}` is given, and the two go together");
    EngineError::InvalidArgument { argument, problem }
}
