//! `ai-hist handoff`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{CallerHints, Engine, HandoffRequest, Order, PageRequest, ResumeRequest};
use clap::Subcommand;

use crate::{report::CliError, text};

/// Hand a session over by pointer, or take one
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Create(CreateArgs),
    Resume(ResumeArgs),
}

/// Make a pointer to a session, and share the session in the configured workspace
#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// What the receiver is to do: 1 to 4,000 characters
    intent: String,

    /// The session; inside an agent's shell its own session if left out
    #[arg(long)]
    session: Option<String>,
}

/// Fetch a session from the configured workspace, and print a page of it
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The pointer's source
    source: String,

    /// The pointer's session id
    session_id: String,

    /// Rows of one kind in a page: 1 to 1,000
    #[arg(long)]
    limit: Option<usize>,

    /// Bytes of the serialized page: up to 28,000
    #[arg(long)]
    max_bytes: Option<usize>,

    /// Go on after a page: its `next_cursor`
    #[arg(long, allow_hyphen_values = true)]
    cursor: Option<String>,

    /// Begin with the session's beginning
    #[arg(long)]
    oldest: bool,
}

pub(crate) fn run(command: &Command, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    match command {
        Command::Create(args) => create(args, engine, json),
        Command::Resume(args) => resume(args, engine, json),
    }
}

fn create(args: &CreateArgs, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let mut request = HandoffRequest { intent: args.intent.clone(), ..HandoffRequest::default() };
    match &args.session {
        Some(reference) => {
            let key = engine.key_of(reference)?;
            request.source = Some(key.agent.to_string());
            request.session_id = Some(key.native.to_string());
        }
        None => request.caller = CallerHints::default(),
    }
    let pointer = engine.create_handoff(&request)?;
    if json {
        text::json(&pointer)?;
    } else {
        writeln!(io::stdout(), "{}", pointer.intent)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn resume(args: &ResumeArgs, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let request = ResumeRequest {
        source: args.source.clone(),
        session_id: args.session_id.clone(),
        page: PageRequest {
            order: args.oldest.then_some(Order::Oldest),
            limit: args.limit,
            max_bytes: args.max_bytes,
            cursor: args.cursor.clone(),
        },
    };
    let page = engine.resume_handoff(&request)?;
    if json {
        text::json(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", text::line(&page.session.title, 100))?;
    let mut rows = [page.prompts, page.events, page.tool_calls, page.file_edits].concat();
    rows.sort_by_key(|it| it.seq);
    for row in &rows {
        text::row(&mut out, row)?;
    }
    if let Some(cursor) = &page.next_cursor {
        writeln!(out, "more: --cursor {cursor}")?;
    }
    Ok(ExitCode::SUCCESS)
}
