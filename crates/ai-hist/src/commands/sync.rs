//! `ai-hist sync`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, SyncReport};

use crate::{
    progress::Bar,
    report::CliError,
    text::{self, bytes, count},
};

/// Read every change in every agent's sessions, and index it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let bar = Bar::new();
    let report = engine.sync(&|progress| bar.show(progress));
    bar.clear();
    let report = report?;
    if json {
        text::json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what a sync did.
pub(crate) fn print(report: &SyncReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if report.n_read == 0 {
        writeln!(out, "nothing new in {}", count(report.n_feeds, "transcript"))?;
    } else {
        writeln!(
            out,
            "read {} of {} ({}): {}",
            report.n_read,
            count(report.n_feeds, "transcript"),
            bytes(report.n_bytes),
            count(report.n_events, "new event")
        )?;
    }
    drop(out);
    let mut err = io::stderr().lock();
    for problem in &report.problems {
        writeln!(err, "warning: {problem}")?;
    }
    if 0 < report.n_failed {
        let failed = count(report.n_failed, "transcript");
        writeln!(err, "warning: {failed} could not be read; `ai-hist doctor` says which")?;
    }
    Ok(())
}
