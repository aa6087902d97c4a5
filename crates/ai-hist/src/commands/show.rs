//! `ai-hist show`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, RowStyle, quoted};

use crate::{
    report::CliError,
    text::{self, count, line},
};

/// Show what is known about a session
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id or the beginning of it, `source:id`, `latest`, or words of its title
    reference: String,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let view = engine.session(&args.reference, RowStyle::whole())?;
    if json {
        text::json(&view)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let session = &view.session;
    writeln!(out, "{}", line(&session.title, 100))?;
    writeln!(out, "{}:{}", view.source, view.session_id)?;
    let git = session.git.as_ref();
    let facts = [
        ("in", session.cwd.as_deref()),
        ("branch", git.and_then(|it| it.branch.as_deref())),
        ("commit", git.and_then(|it| it.commit.as_deref())),
        ("from", session.first_activity.as_deref()),
        ("to", session.last_activity.as_deref()),
        ("version", session.agent_version.as_deref()),
        ("name", session.nickname.as_deref()),
        ("fetched from", view.origin.as_deref()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            writeln!(out, "  {name:<12} {}", line(value, 100))?;
        }
    }
    if let Some(parent) = &session.parent {
        let relation = parent.relation.replace('_', " ");
        writeln!(out, "  {relation:<12} of {}:{}", parent.source, parent.session_id)?;
    }
    let events = count(session.n_events, "event");
    writeln!(out, "  {:<12} {events}, {}", "has", count(session.n_prompts, "prompt"))?;
    for usage in &session.usage {
        let model = usage.model.as_deref().unwrap_or("unnamed model");
        let calls = count(usage.calls, "call");
        writeln!(
            out,
            "  {:<12} {model}: {calls}, {} tokens in ({} cached), {} out",
            "cost",
            usage.input + usage.cache_read + usage.cache_write,
            usage.cache_read,
            usage.output
        )?;
    }
    for path in &session.files_touched {
        writeln!(out, "  {:<12} {}", "changed", line(path, 100))?;
    }
    for child in &view.children {
        writeln!(out, "  {:<12} {}:{}", "child", child.source, child.session_id)?;
    }
    if let Some(prompt) = &session.first_prompt {
        writeln!(out, "\nfirst prompt\n{}", quoted(&prompt.text))?;
    }
    if let Some(plan) = &session.plan {
        writeln!(out, "\nplan\n{}", quoted(&plan.text))?;
    }
    writeln!(out, "\nlast events")?;
    for row in &view.last_events {
        text::row(&mut out, row)?;
    }
    Ok(ExitCode::SUCCESS)
}
