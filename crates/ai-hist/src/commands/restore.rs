//! `ai-hist restore`.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use ai_hist_engine::{Engine, RestoreRequest, RestoreStatus};

use crate::{
    report::CliError,
    text::{self, bytes},
};

/// Write a session's transcript back for its agent, as it was read
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id or the beginning of it, `source:id`, `latest`, or words of its title
    #[arg(required_unless_present = "all")]
    reference: Option<String>,

    /// Every transcript there is
    #[arg(long, conflicts_with = "reference", requires = "to")]
    all: bool,

    /// Below this folder, at the path the file had below the home folder [default: where it was]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Of a file that its agent has rewritten: which generation, from 0 [default: the last]
    #[arg(long, value_name = "N")]
    generation: Option<i64>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let report = engine.restore(&RestoreRequest {
        reference: args.reference.clone(),
        to: args.to.clone(),
        generation: args.generation,
    })?;
    if json {
        text::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for file in &report.files {
        let status = match file.status {
            RestoreStatus::Written => "written",
            RestoreStatus::Unchanged => "there  ",
        };
        let path = file.path.display().to_string();
        writeln!(out, "{status}  {}  {}", text::line(&path, 200), bytes(file.n_bytes))?;
        if 1 < file.n_generations {
            let (n, last) = (file.generation, file.n_generations - 1);
            writeln!(out, "         generation {n} of 0 to {last}: `--generation N` for another")?;
        }
    }
    if args.to.is_none()
        && let Some(reference) = &args.reference
    {
        writeln!(out, "reopen it with `ai-hist resume {reference}`")?;
    }
    Ok(ExitCode::SUCCESS)
}
