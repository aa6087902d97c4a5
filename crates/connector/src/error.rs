//! What can go wrong in a connector.

use std::{io, path::PathBuf};

use ai_hist_model::{Coded, ErrorCode};

/// What can go wrong in a connector. Malformed records are not errors; see [`Skipped`].
///
/// [`Skipped`]: ai_hist_model::Skipped
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    /// An option is missing or cannot be used.
    #[error("option `{option}` {problem}")]
    Option {
        /// Which option.
        option: &'static str,
        /// What is wrong with it, as a verb phrase.
        problem: String,
        /// What to do: one imperative sentence.
        hint: String,
    },
    /// Something local could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A compressed transcript unpacks to more than [`MAX_UNPACKED_BYTES`].
    ///
    /// [`MAX_UNPACKED_BYTES`]: crate::limits::MAX_UNPACKED_BYTES
    #[error("`{}` unpacks to more than is allowed", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
    /// The other side refused our credentials.
    #[error("the workspace refused account `{account}`")]
    Unauthorized {
        /// Which account.
        account: String,
    },
    /// The other side could not be asked.
    #[error("cannot reach `{place}`: {reason}")]
    Unreachable {
        /// What was asked.
        place: String,
        /// Why there was no answer.
        reason: String,
    },
    /// A push does not fit what the workspace holds.
    #[error("the workspace holds {held} events of the session, and the push begins at {first}")]
    Conflict {
        /// How many the workspace has.
        held: u64,
        /// Where the push began.
        first: u64,
    },
    /// Stored pages are damaged.
    #[error("the workspace's copy is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// The agent cannot do this.
    #[error("this agent cannot {what}")]
    Unsupported {
        /// What was asked, as a verb phrase.
        what: &'static str,
    },
}

impl Coded for ConnectorError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Option { .. } => ErrorCode::ConnectorConfigInvalid,
            Self::Read { .. } | Self::TooLarge { .. } => ErrorCode::ConnectorReadFailed,
            Self::Unauthorized { .. } => ErrorCode::AuthenticationExpired,
            Self::Unreachable { .. } | Self::Conflict { .. } | Self::Damaged { .. } => {
                ErrorCode::HandoffSourceUnavailable
            }
            Self::Unsupported { .. } => ErrorCode::ConnectorUnsupported,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Option { hint, .. } => Some(hint.clone()),
            Self::Unauthorized { .. } => {
                Some("ask the workspace's owner to admit this account".to_owned())
            }
            Self::Damaged { .. } => Some("push the session again from its own machine".to_owned()),
            Self::Unreachable { .. } => {
                Some("check that the place exists and may be written".to_owned())
            }
            Self::Read { .. }
            | Self::TooLarge { .. }
            | Self::Conflict { .. }
            | Self::Unsupported { .. } => None,
        }
    }
}
