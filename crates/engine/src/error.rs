//! What can go wrong, as front-ends see it.

use std::{io, path::PathBuf};

use ai_hist_connector::ConnectorError;
use ai_hist_handoff::HandoffError;
use ai_hist_index::IndexError;
use ai_hist_ingest::IngestError;
use ai_hist_model::{Coded, ErrorCode};
use ai_hist_query::QueryError;
use ai_hist_store::StoreError;

use crate::config::ConfigError;

/// What can go wrong, as front-ends see it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The client told nothing of its session.
    #[error("cannot tell which session is calling: the client said nothing of it")]
    CallerUnavailable,
    /// The client named its session, and there is no transcript of it.
    #[error("the calling session `{session}` has no transcript on this machine")]
    CallerNotFound {
        /// The session.
        session: String,
    },
    /// Several sessions could be the caller's.
    #[error("several sessions could be calling: {}", candidates.join(", "))]
    CallerAmbiguous {
        /// Those.
        candidates: Vec<String>,
    },
    /// An argument is out of its bounds.
    #[error("`{argument}` {problem}")]
    InvalidArgument {
        /// Which.
        argument: &'static str,
        /// What is wrong with it, as a verb phrase.
        problem: String,
    },
    /// A file that would be written is there, and is another.
    #[error("`{}` is there already and differs", path.display())]
    RestoreConflict {
        /// It.
        path: PathBuf,
    },
    /// A file cannot be written back.
    #[error("cannot write `{}`", path.display())]
    RestoreFailed {
        /// It.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no transcript of the session to write back.
    #[error("of `{session}` there is no transcript of this machine to write back")]
    NothingToRestore {
        /// The session.
        session: String,
    },
    /// An export cannot be written.
    #[error("cannot write the export")]
    ExportFailed {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A connector failed.
    #[error(transparent)]
    Connector(#[from] ConnectorError),
    /// A handoff failed.
    #[error(transparent)]
    Handoff(#[from] HandoffError),
    /// Taking in failed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A search failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for EngineError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::CallerUnavailable => ErrorCode::CurrentSessionUnavailable,
            Self::CallerNotFound { .. } => ErrorCode::CurrentSessionNotFound,
            Self::CallerAmbiguous { .. } => ErrorCode::CurrentSessionAmbiguous,
            Self::InvalidArgument { .. } => ErrorCode::InvalidArgument,
            Self::RestoreConflict { .. } => ErrorCode::RestoreConflict,
            Self::RestoreFailed { .. } | Self::ExportFailed { .. } => ErrorCode::WriteFailed,
            Self::NothingToRestore { .. } => ErrorCode::SessionNotFound,
            Self::Config(error) => error.code(),
            Self::Connector(error) => error.code(),
            Self::Handoff(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Index(error) => error.code(),
            Self::Query(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::CallerUnavailable => Some(
                "give `source` and `session_id`; Codex and Claude Code tell theirs by themselves, \
                 and a shell has CODEX_THREAD_ID or CLAUDE_CODE_SESSION_ID"
                    .to_owned(),
            ),
            Self::CallerNotFound { .. } => Some(
                "check that the agent keeps transcripts, and that its folder is the one that \
                 `ai-hist connectors` shows"
                    .to_owned(),
            ),
            Self::CallerAmbiguous { .. } => {
                Some("give `source` and `session_id` of the right one".to_owned())
            }
            Self::RestoreConflict { .. } => {
                Some("give `--to DIR` to have it elsewhere; nothing was written".to_owned())
            }
            Self::RestoreFailed { .. } | Self::ExportFailed { .. } => {
                Some("check that the folder may be written and that its disk has room".to_owned())
            }
            Self::NothingToRestore { .. } => Some(
                "name a session that an agent on this machine has written: `ai-hist sessions`"
                    .to_owned(),
            ),
            Self::InvalidArgument { .. } => None,
            Self::Config(error) => error.hint(),
            Self::Connector(error) => error.hint(),
            Self::Handoff(error) => error.hint(),
            Self::Ingest(error) => error.hint(),
            Self::Index(error) => error.hint(),
            Self::Query(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
