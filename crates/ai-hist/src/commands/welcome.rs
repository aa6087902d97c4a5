//! `ai-hist` without a command: reads what is new, says what is there and what to do next.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{ConnectorStatus, Engine};
use serde_json::json;

use crate::{
    commands::sync,
    progress::Bar,
    report::CliError,
    text::{self, count},
};

pub(crate) fn run(engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    if !json {
        let mut out = io::stdout().lock();
        for state in engine.connectors() {
            match &state.status {
                ConnectorStatus::Ready => writeln!(out, "found {}", state.display_name)?,
                ConnectorStatus::Failed(why) => writeln!(out, "{}: {why}", state.display_name)?,
                ConnectorStatus::Absent(_) | ConnectorStatus::NotConfigured => {}
            }
        }
    }
    let bar = Bar::new();
    let report = engine.sync(&|progress| bar.show(progress));
    bar.clear();
    let report = report?;
    let agents = engine.counts()?;
    if json {
        text::json(&json!({ "sync": report, "agents": agents }))?;
        return Ok(ExitCode::SUCCESS);
    }
    sync::print(&report)?;
    let mut out = io::stdout().lock();
    if agents.is_empty() {
        writeln!(out, "no sessions yet: `ai-hist connectors` shows where they are looked for")?;
        return Ok(ExitCode::SUCCESS);
    }
    for agent in &agents {
        let sessions = count(agent.sessions, "session");
        let prompts = count(agent.prompts, "prompt");
        let events = count(agent.events, "event");
        writeln!(out, "  {:<8} {sessions}, {prompts}, {events}", agent.source)?;
    }
    writeln!(out, "\nnext:")?;
    for (command, what) in [
        ("ai-hist search WORDS", "find what was done or said"),
        ("ai-hist sessions", "list sessions, the latest first"),
        ("ai-hist resume latest", "reopen one in its agent"),
        ("ai-hist connectors", "see how to give agents the MCP server"),
    ] {
        writeln!(out, "  {command:<24} {what}")?;
    }
    Ok(ExitCode::SUCCESS)
}
