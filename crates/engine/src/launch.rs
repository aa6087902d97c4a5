//! Reopening a session in its agent.

use std::{ffi::OsString, path::PathBuf};

use ai_hist_connector::{AgentCommand, Launch};
use ai_hist_model::ConnectorId;
use ai_hist_store::StoredSession;

use crate::{Engine, EngineError};

/// A program to start: an argument vector, never a shell string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where to start it: the session's own working directory.
    pub cwd: Option<PathBuf>,
}

impl Engine {
    /// The command that reopens the session that `reference` means.
    pub fn resume_command(&self, reference: &str) -> Result<Command, EngineError> {
        let session = self.current(reference)?;
        self.command_of(&session)
    }

    /// For each agent that is here and has one: the command that gives it `server` as its MCP
    /// server.
    #[must_use]
    pub fn wirings(&self, server: &[OsString]) -> Vec<(ConnectorId, Command)> {
        let local = self.sources().local.iter();
        local
            .filter_map(|source| {
                let wiring = source.connector.wiring(server)?;
                let AgentCommand { program, args, cwd } = wiring;
                Some((source.id.clone(), Command { program, args, cwd }))
            })
            .collect()
    }

    fn command_of(&self, session: &StoredSession) -> Result<Command, EngineError> {
        let key = &session.facts.key;
        let source = self.sources().local.iter().find(|it| it.id.as_str() == key.agent.as_str());
        let Some(source) = source else {
            let problem = format!("is a session of `{}`, which is not on this machine", key.agent);
            return Err(EngineError::InvalidArgument { argument: "reference", problem });
        };
        let command = source.connector.command(&Launch::Resume(key))?;
        let cwd = command.cwd.or_else(|| session.facts.cwd.clone().map(PathBuf::from));
        debug_assert!(!command.program.is_empty());
        Ok(Command { program: command.program, args: command.args, cwd })
    }
}
