//! Errors, for people and for programs.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{
    EngineError,
    model::{Class, Coded as _, message_with_causes},
};
use ai_hist_mcp::ServeError;
use serde_json::json;

/// What can go wrong in a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// What was asked failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The MCP server failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is nowhere to keep anything.
    #[error("this user has no home folder")]
    NoHome,
    /// The agent's program could not be started.
    #[error("cannot start `{program}`")]
    Start {
        /// Which.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// There is nobody to agree.
    #[error("this cannot be undone, and there is no terminal to ask for agreement")]
    NotAsked,
    /// A step of the demonstration did not go as it must.
    #[error("{0}")]
    Quickstart(String),
}

impl CliError {
    fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) => error.code().as_str(),
            Self::Serve(_) => "MCP_FAILED",
            Self::Io(_) => "IO_FAILED",
            Self::NoHome => "NO_HOME",
            Self::NotAsked => "NOT_AGREED",
            Self::Start { .. } => "AGENT_NOT_STARTED",
            Self::Quickstart(_) => "QUICKSTART_FAILED",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => error.hint(),
            Self::NotAsked => Some("look with `--dry-run`, then give `--yes`".to_owned()),
            Self::NoHome => Some("set HOME, or AI_HIST_HOME to a folder of yours".to_owned()),
            Self::Start { program, .. } => {
                Some(format!("install `{program}` or put it on PATH; `--print` shows the command"))
            }
            Self::Serve(_) | Self::Io(_) | Self::Quickstart(_) => None,
        }
    }

    fn class(&self) -> Class {
        match self {
            Self::Engine(error) => error.code().class(),
            Self::NoHome => Class::Config,
            Self::NotAsked => Class::Request,
            Self::Io(_) | Self::Start { .. } => Class::Unavailable,
            Self::Serve(_) | Self::Quickstart(_) => Class::Internal,
        }
    }
}

/// Says what went wrong and gives the exit status. Nobody left to read is no failure.
pub(crate) fn failure(error: &CliError, json: bool) -> ExitCode {
    if let CliError::Io(error) | CliError::Engine(EngineError::ExportFailed { source: error }) =
        error
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    let class = error.class();
    let hint = error.hint();
    if json {
        let value = json!({"error": {
            "code": error.code(),
            "message": message_with_causes(error),
            "hint": hint.unwrap_or_default(),
            "retryable": class.is_retryable(),
        }});
        let _ = writeln!(io::stdout(), "{value}");
        return ExitCode::from(class.exit_status());
    }
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "error[{}]: {}", error.code(), message_with_causes(error));
    if let Some(hint) = hint {
        let _ = writeln!(err, "hint: {hint}");
    }
    ExitCode::from(class.exit_status())
}
