//! The machine-readable half of every error.

/// Which side has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The request was wrong: change the request.
    Request,
    /// The setup is wrong: change a setting.
    Config,
    /// Something else is down or busy: try again later.
    Unavailable,
    /// Stored data is damaged: run `ai-hist doctor`.
    Corrupt,
    /// We are wrong: report it.
    Internal,
}

impl Class {
    /// Whether the same request may succeed later, unchanged.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Unavailable)
    }

    /// The process exit status.
    #[must_use]
    pub const fn exit_status(self) -> u8 {
        match self {
            Self::Request => 2,
            Self::Config => 78,
            Self::Unavailable => 75,
            Self::Corrupt => 65,
            Self::Internal => 70,
        }
    }
}

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $class:ident;)*) => {
        /// A stable code. Once released, its text is never changed and never reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$doc])* $name,)* }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The text that users and programs see.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Which side has to act.
            #[must_use]
            pub const fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)* }
            }
        }
    };
}

error_codes! {
    /// The caller gave no session and the client told us nothing about its own.
    CurrentSessionUnavailable = "CURRENT_SESSION_UNAVAILABLE", Request;
    /// The client named its session, and no transcript of it can be found.
    CurrentSessionNotFound = "CURRENT_SESSION_NOT_FOUND", Request;
    /// Several sessions could be the caller's.
    CurrentSessionAmbiguous = "CURRENT_SESSION_AMBIGUOUS", Request;
    /// An argument is out of its bounds.
    InvalidArgument = "INVALID_ARGUMENT", Request;
    /// The cursor was not made by us, was altered, or belongs to another session.
    InvalidCursor = "INVALID_CURSOR", Request;
    /// The reference matches no session we know of.
    SessionNotFound = "SESSION_NOT_FOUND", Request;
    /// The reference matches several sessions.
    SessionAmbiguous = "SESSION_AMBIGUOUS", Request;
    /// No connector named `cloud` is configured.
    HandoffConnectorNotConfigured = "HANDOFF_CONNECTOR_NOT_CONFIGURED", Config;
    /// The authenticated workspace has no such session.
    HandoffWorkspaceMismatch = "HANDOFF_WORKSPACE_MISMATCH", Request;
    /// The workspace could not be asked.
    HandoffSourceUnavailable = "HANDOFF_SOURCE_UNAVAILABLE", Unavailable;
    /// The workspace refused our credentials.
    AuthenticationExpired = "AUTHENTICATION_EXPIRED", Config;
    /// The connector configuration cannot be used.
    ConnectorConfigInvalid = "CONNECTOR_CONFIG_INVALID", Config;
    /// A transcript could not be read.
    ConnectorReadFailed = "CONNECTOR_READ_FAILED", Unavailable;
    /// A file that would be written back is there, and differs.
    RestoreConflict = "RESTORE_CONFLICT", Request;
    /// A file could not be written.
    WriteFailed = "WRITE_FAILED", Unavailable;
    /// The agent cannot do what was asked.
    ConnectorUnsupported = "CONNECTOR_UNSUPPORTED", Request;
    /// The store could not be opened or written.
    StoreUnavailable = "STORE_UNAVAILABLE", Unavailable;
    /// The store was written by a newer version.
    StoreTooNew = "STORE_TOO_NEW", Config;
    /// The store's file is damaged.
    StoreCorrupt = "STORE_CORRUPT", Corrupt;
    /// The search index could not be used.
    IndexUnavailable = "INDEX_UNAVAILABLE", Unavailable;
    /// We are wrong: report it.
    Internal = "INTERNAL", Internal;
}

/// An error that knows its code and, if there is one, the way out.
pub trait Coded: std::error::Error {
    /// The stable code.
    fn code(&self) -> ErrorCode;

    /// One imperative sentence that would help, if there is one.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// What `error` says, followed by each of its causes that says something new.
#[must_use]
pub fn message_with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = error.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_stable_words() {
        for (i, code) in ErrorCode::ALL.iter().enumerate() {
            let text = code.as_str();
            assert!(text.bytes().all(|it| it.is_ascii_uppercase() || it == b'_'), "`{text}`");
            assert!(ErrorCode::ALL[..i].iter().all(|it| it.as_str() != text), "`{text}` twice");
        }
    }
}
