//! `ai-hist reparse`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::Engine;

use crate::{
    progress::Bar,
    report::CliError,
    text::{self, count},
};

/// Read what is archived again, with what this version understands
///
/// Done by itself after an upgrade that understands more.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this session [default: everything]
    reference: Option<String>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let bar = Bar::new();
    let report = engine.reparse(args.reference.as_deref(), &|progress| bar.show(progress));
    bar.clear();
    let report = report?;
    if json {
        text::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let read = count(report.n_transcripts, "transcript");
    writeln!(io::stdout(), "read {read} again: {}", count(report.n_events, "event"))?;
    let mut err = io::stderr().lock();
    for problem in &report.problems {
        writeln!(err, "warning: {problem}")?;
    }
    Ok(ExitCode::SUCCESS)
}
