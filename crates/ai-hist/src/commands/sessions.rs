//! `ai-hist sessions`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, SessionFilter, SubAgents};

use crate::{report::CliError, text};

/// List sessions, the latest activity first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only sessions of this agent
    #[arg(long)]
    source: Option<String>,

    /// Only sessions whose working directory holds these letters
    #[arg(long)]
    project: Option<String>,

    /// Sub-agents' sessions too
    #[arg(long)]
    all: bool,

    /// How many
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: usize,

    /// Go on after a page: its `next_cursor`
    #[arg(long)]
    cursor: Option<String>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let list = engine.sessions(&SessionFilter {
        source: args.source.clone(),
        project: args.project.clone(),
        sub_agents: if args.all { SubAgents::Listed } else { SubAgents::Hidden },
        limit: Some(args.limit),
        cursor: args.cursor.clone(),
    })?;
    if json {
        text::json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for session in &list.sessions {
        text::session(&mut out, session)?;
    }
    if list.sessions.is_empty() {
        writeln!(out, "no sessions")?;
    }
    if let Some(cursor) = &list.next_cursor {
        writeln!(out, "more: --cursor {cursor}")?;
    }
    Ok(ExitCode::SUCCESS)
}
