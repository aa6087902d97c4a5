//! `ai-hist doctor`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use ai_hist_engine::{Engine, Health, RepairProgress, RetentionRow};

use crate::{
    progress::Bar,
    report::CliError,
    text::{self, bytes, count, line},
};

/// Check everything: what was read, what was not understood, what needs a hand
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Bring a damaged store back: from what is sound of it, its backup and the transcripts
    #[arg(long)]
    repair: bool,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    if args.repair {
        return repair(engine, json);
    }
    let health = engine.health()?;
    if json {
        text::json(&health)?;
    } else {
        print(&health)?;
    }
    Ok(if health.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(health: &Health) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "state    {}", health.state)?;
    for agent in &health.agents {
        let sessions = count(agent.sessions, "session");
        let events = count(agent.events, "event");
        writeln!(
            out,
            "{:<8} {sessions}, {}, {events}",
            agent.source,
            count(agent.prompts, "prompt")
        )?;
    }
    for (source, total) in &health.totals {
        writeln!(
            out,
            "{source:<8} {} = {} understood + {} ignored + {} unknown + {} damaged",
            count(total.lines, "line"),
            total.events_lines,
            total.ignored,
            total.unknown,
            total.damaged
        )?;
    }
    writeln!(
        out,
        "archive  {} kept in {}",
        bytes(health.archive.bytes),
        bytes(health.archive.stored_bytes)
    )?;
    for row in &health.retention {
        retention(&mut out, row)?;
    }
    for path in &health.excluded {
        writeln!(out, "excluded {}", line(path, 120))?;
    }
    let behind = health.index.last_row.saturating_sub(health.index.watermark);
    match behind {
        0 => writeln!(out, "index    up to date")?,
        n => writeln!(out, "index    {} behind: run `ai-hist sync`", count(n, "event"))?,
    }
    if 0 < health.stale_feeds {
        let stale = count(health.stale_feeds, "transcript");
        writeln!(out, "changed  {stale} since the last sync: run `ai-hist sync`")?;
    }
    let damaged = health.accounting.iter().filter(|it| !it.damage.is_empty());
    for row in damaged.take(10) {
        let first = &row.damage[0];
        writeln!(out, "damaged  {} {}: {}", line(&row.path, 120), first.locator, first.reason)?;
    }
    for problem in &health.problems {
        writeln!(out, "problem  [{}] {}", problem.code, line(&problem.message, 400))?;
        writeln!(out, "         {}", problem.hint)?;
    }
    if health.ok {
        writeln!(out, "all is well")?;
    }
    Ok(())
}

/// What an agent removes, and what of it is kept here.
fn retention(out: &mut impl Write, row: &RetentionRow) -> io::Result<()> {
    if 0 < row.gone {
        let gone = count(row.gone, "transcript");
        let size = bytes(row.gone_bytes);
        writeln!(
            out,
            "kept     {gone} ({size}) that {} has removed: `ai-hist restore`",
            row.source
        )?;
    }
    if let (Some(days), true) = (row.days, 0 < row.due) {
        let due = count(row.due, "transcript");
        writeln!(
            out,
            "kept     {due} that {} removes within a week, after {days} days",
            row.source
        )?;
        if let Some(hint) = &row.hint {
            writeln!(out, "         {hint}")?;
        }
    }
    Ok(())
}

fn repair(engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let bar = Bar::new();
    let report = engine.repair(&|progress| {
        if let RepairProgress::Sync(progress) = progress {
            bar.show(progress);
        }
    });
    bar.clear();
    let report = report?;
    if json {
        text::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let Some(damage) = &report.damage else {
        writeln!(out, "the store is sound: nothing was done")?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(out, "damage   {}", line(damage, 400))?;
    if let Some(moved_to) = &report.moved_to {
        writeln!(out, "moved    to {}", line(moved_to, 200))?;
    }
    let (sessions, events) = (count(report.n_sessions, "session"), count(report.n_events, "event"));
    writeln!(out, "saved    {sessions}, {events}")?;
    if 0 < report.n_blank_bytes {
        writeln!(out, "lost     {} of the archive", bytes(report.n_blank_bytes))?;
    }
    Ok(ExitCode::SUCCESS)
}
