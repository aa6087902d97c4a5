//! What can go wrong in a handoff.

use ai_hist_connector::ConnectorError;
use ai_hist_ingest::IngestError;
use ai_hist_model::{Coded, ErrorCode};
use ai_hist_store::StoreError;

use crate::limits::MAX_CANDIDATES;

/// What can go wrong in a handoff.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// An argument is out of its bounds.
    #[error("`{argument}` {problem}")]
    InvalidArgument {
        /// Which.
        argument: &'static str,
        /// What is wrong with it, as a verb phrase.
        problem: String,
    },
    /// A cursor that we did not make, that was altered, or that belongs to another session.
    #[error("the cursor {problem}")]
    InvalidCursor {
        /// What is wrong with it, as a verb phrase.
        problem: &'static str,
    },
    /// No connector named `cloud` is configured.
    #[error("no connector named `cloud` is configured")]
    NotConfigured,
    /// The authenticated workspace has no such session.
    #[error("workspace `{workspace}` has no session `{session}`")]
    WorkspaceMismatch {
        /// The workspace.
        workspace: String,
        /// The session that was asked for.
        session: String,
        /// Whether this machine has a session of that id.
        is_local: bool,
    },
    /// The workspace could not be asked.
    #[error("the workspace cannot be asked: {source}")]
    Workspace {
        /// Why.
        #[source]
        source: ConnectorError,
    },
    /// The reference matches no session.
    #[error("no session matches `{reference}`")]
    NotFound {
        /// The reference.
        reference: String,
    },
    /// The reference matches several sessions.
    #[error("`{reference}` matches several sessions: {}", candidates.join(", "))]
    Ambiguous {
        /// The reference.
        reference: String,
        /// Some of them.
        candidates: Vec<String>,
    },
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A session could not be brought up to date.
    #[error(transparent)]
    Ingest(#[from] IngestError),
}

impl HandoffError {
    pub(crate) fn ambiguous(reference: &str, mut candidates: Vec<String>) -> Self {
        candidates.truncate(MAX_CANDIDATES);
        Self::Ambiguous { reference: reference.to_owned(), candidates }
    }
}

impl Coded for HandoffError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidArgument { .. } => ErrorCode::InvalidArgument,
            Self::InvalidCursor { .. } => ErrorCode::InvalidCursor,
            Self::NotConfigured => ErrorCode::HandoffConnectorNotConfigured,
            Self::WorkspaceMismatch { .. } => ErrorCode::HandoffWorkspaceMismatch,
            Self::Workspace { source } => match source {
                ConnectorError::Unauthorized { .. } => ErrorCode::AuthenticationExpired,
                ConnectorError::Option { .. } => ErrorCode::ConnectorConfigInvalid,
                ConnectorError::Read { .. }
                | ConnectorError::TooLarge { .. }
                | ConnectorError::Unreachable { .. }
                | ConnectorError::Conflict { .. }
                | ConnectorError::Damaged { .. }
                | ConnectorError::Unsupported { .. } => ErrorCode::HandoffSourceUnavailable,
            },
            Self::NotFound { .. } => ErrorCode::SessionNotFound,
            Self::Ambiguous { .. } => ErrorCode::SessionAmbiguous,
            Self::Store(error) => error.code(),
            Self::Ingest(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidArgument { .. } => None,
            Self::InvalidCursor { .. } => {
                Some("call again without a cursor to begin with the first page".to_owned())
            }
            Self::NotConfigured => Some(CONFIG_HINT.to_owned()),
            Self::WorkspaceMismatch { is_local, session, .. } => Some(if *is_local {
                format!(
                    "check the pointer and the workspace; a session of this id is on this \
                     machine: read it with get_session or `ai-hist show {session}`, or share it \
                     with create_handoff"
                )
            } else {
                "check the pointer, and that sender and receiver use the same workspace".to_owned()
            }),
            Self::Workspace { source } => source.hint(),
            Self::NotFound { .. } => {
                Some("list sessions with `ai-hist sessions`, or search for words of it".to_owned())
            }
            Self::Ambiguous { .. } => Some("give the whole id".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Ingest(error) => error.hint(),
        }
    }
}

const CONFIG_HINT: &str = "set AI_HIST_PLUGIN_CONFIG to a file with: {\"plugins\":[{\"module\":\
    \"cloud\",\"options\":{\"path\":\"~/ai-hist-workspace\",\"workspace\":\"my-team\",\"account\":\
    \"me\"}}]}";
