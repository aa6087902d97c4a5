//! `ai-hist connectors`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{ConnectorStatus, Engine};
use serde_json::json;

use crate::{
    commands::resume::shell_line,
    report::CliError,
    text::{self, line},
};

/// List connectors, whether they are at work, and how to give their agents the MCP server
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let server = [std::env::current_exe()?.into_os_string(), "mcp".into()];
    let wirings = engine.wirings(&server);
    let rows = engine.connectors().iter().map(|state| {
        let (status, detail) = match &state.status {
            ConnectorStatus::Ready => ("ready", ""),
            ConnectorStatus::Absent(why) => ("absent", why.as_str()),
            ConnectorStatus::NotConfigured => ("not_configured", ""),
            ConnectorStatus::Failed(why) => ("failed", why.as_str()),
        };
        (state, status, detail)
    });
    if json {
        let values: Vec<_> = rows
            .map(|(state, status, detail)| {
                let wiring = wirings.iter().find(|it| it.0 == state.id).map(|it| shell_line(&it.1));
                json!({
                    "id": state.id.as_str(),
                    "name": state.display_name,
                    "status": status,
                    "detail": detail,
                    "mcp_setup": wiring,
                })
            })
            .collect();
        let error = engine.config_error().map(ToString::to_string);
        text::json(&json!({ "connectors": values, "config_error": error }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for (state, status, detail) in rows {
        let status = status.replace('_', " ");
        writeln!(
            out,
            "{:<8} {:<16} {status}  {}",
            state.id,
            state.display_name,
            line(detail, 100)
        )?;
    }
    if let Some(error) = engine.config_error() {
        writeln!(out, "\nconfiguration: {error}")?;
    }
    if !wirings.is_empty() {
        writeln!(out, "\nto give an agent the MCP server:")?;
        for (_, command) in &wirings {
            writeln!(out, "  {}", shell_line(command))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
