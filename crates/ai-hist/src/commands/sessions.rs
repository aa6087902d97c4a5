//! `ai-hist sessions`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use ai_hist_engine::{Engine, Family, SessionFilter, SessionTree, SubAgents};

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

    /// The whole tree that this session is in: its forks and sub-agents
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["source", "project", "all", "cursor"])]
    tree: Option<String>,

    /// Go on after a page: its `next_cursor`
    #[arg(long, allow_hyphen_values = true)]
    cursor: Option<String>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    if let Some(reference) = &args.tree {
        return tree(&engine.family(reference)?, json);
    }
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

fn tree(family: &Family, json: bool) -> Result<ExitCode, CliError> {
    if json {
        text::json(family)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    branch(&mut out, &family.root, 0)?;
    if family.truncated {
        writeln!(out, "and more: the first {} are shown", family.n_sessions)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn branch(out: &mut impl Write, tree: &SessionTree, depth: usize) -> io::Result<()> {
    let session = &tree.session;
    let relation = tree.relation.map_or(String::new(), |it| format!("{}  ", it.replace('_', " ")));
    let name =
        tree.nickname.as_deref().map_or(String::new(), |it| format!("{}  ", text::line(it, 30)));
    let events = text::count(session.n_events - session.n_copied, "event");
    let copied = match session.n_copied {
        0 => String::new(),
        n => format!(" and {n} of its parent's"),
    };
    writeln!(
        out,
        "{:indent$}{relation}{name}{}:{}  {events}{copied}  {}",
        "",
        session.source,
        session.session_id,
        text::line(&session.title, 60),
        indent = 2 * depth
    )?;
    for child in &tree.children {
        branch(out, child, depth + 1)?;
    }
    Ok(())
}
