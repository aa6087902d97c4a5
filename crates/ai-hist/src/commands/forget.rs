//! `ai-hist forget`.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, ForgetPlan, ForgetReport, ForgetRequest, model::Timestamp};

use crate::{
    report::CliError,
    text::{self, count},
};

/// Remove sessions for good: from store, archive, index and backups
///
/// They are not read again, also where their transcripts are still there. With several conditions
/// a session must meet all of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ids, their beginnings, `source:id`, or words of titles
    reference: Vec<String>,

    /// Those that worked in this folder or below it
    #[arg(long, value_name = "PATH")]
    project: Option<String>,

    /// Those that ended longer ago than this: `90d`, `12w`, `6m`, `2y`
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Age>,

    /// Those in which these words stand, to the letter
    #[arg(long = "match", value_name = "WORDS")]
    matching: Option<String>,

    /// Only say which
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Let a forgotten session be read again: `source:id`
    #[arg(long, value_name = "SESSION", exclusive = true)]
    undo: Option<String>,
}

/// A length of time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Age(i64);

fn age(text: &str) -> Result<Age, String> {
    let wrong = || "write a number and d, w, m or y, as in `90d`".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let days = match unit {
        'd' => 1,
        'w' => 7,
        'm' => 30,
        'y' => 365,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let milliseconds = number.checked_mul(days * 86_400_000).filter(|it| 0 <= *it);
    milliseconds.map(Age).ok_or_else(wrong)
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    if let Some(session) = &args.undo {
        return undo(session, engine, json);
    }
    let plan = engine.plan_to_forget(&ForgetRequest {
        references: args.reference.clone(),
        project: args.project.clone(),
        before: args.older_than.map(|it| Timestamp(engine.time().0 - it.0)),
        matching: args.matching.clone(),
    })?;
    if args.dry_run {
        if json {
            text::json(&plan)?;
        } else {
            show(&plan)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && !is_agreed(&plan)? {
        writeln!(io::stderr(), "nothing was forgotten")?;
        return Ok(ExitCode::from(1));
    }
    let report = engine.forget(&plan)?;
    if json {
        text::json(&report)?;
    } else {
        told(&report)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn undo(session: &str, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let (source, id) = session.split_once(':').unwrap_or(("", session));
    let was_forgotten = engine.remember(source, id)?;
    if json {
        text::json(&serde_json::json!({ "was_forgotten": was_forgotten }))?;
    } else if was_forgotten {
        writeln!(io::stdout(), "the next sync reads it again, if its transcript is still there")?;
    } else {
        writeln!(io::stdout(), "it was not forgotten")?;
    }
    Ok(ExitCode::from(u8::from(!was_forgotten)))
}

fn show(plan: &ForgetPlan) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for session in &plan.sessions {
        text::session(&mut out, session)?;
    }
    let sessions = count(plan.sessions.len() as u64, "session");
    writeln!(out, "{sessions} with {}", count(plan.n_events, "event"))
}

/// Whether the user agrees. Without a terminal there is nobody to ask.
fn is_agreed(plan: &ForgetPlan) -> Result<bool, CliError> {
    if plan.sessions.is_empty() {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        return Err(CliError::NotAsked);
    }
    show(plan)?;
    write!(io::stderr(), "forget them for good? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn told(report: &ForgetReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "forgot {} with {}, from {}",
        count(report.n_sessions, "session"),
        count(report.n_events, "event"),
        count(report.n_transcripts, "transcript")
    )?;
    if !report.left_on_disk.is_empty() {
        writeln!(out, "their agents still have:")?;
        for path in &report.left_on_disk {
            writeln!(out, "  {}", text::line(path, 200))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_and_a_unit() {
        for (text, days) in [("90d", 90), ("2w", 14), ("1m", 30), ("1y", 365), ("0d", 0)] {
            assert_eq!(age(text), Ok(Age(days * 86_400_000)), "`{text}`");
        }
        for text in ["", "d", "90", "-1d", "9x", "é", "99999999999999y"] {
            assert!(age(text).is_err(), "`{text}`");
        }
    }
}
