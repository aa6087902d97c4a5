//! `ai-hist exclude`.

use std::{
    io::{self, Write as _},
    path::{self, PathBuf},
    process::ExitCode,
};

use ai_hist_engine::Engine;

use crate::{
    report::CliError,
    text::{self, count},
};

/// Leave unread what agents do in a folder; without one, list such folders
///
/// What was read from there before stays; `ai-hist forget --project PATH` removes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; everything below it is meant too
    path: Option<PathBuf>,

    /// Read it again
    #[arg(long, requires = "path")]
    remove: bool,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    if let Some(path) = &args.path {
        let path = path::absolute(path)?;
        let text = path.to_string_lossy();
        if args.remove {
            engine.include(&text)?
        } else {
            engine.exclude(&text)?
        };
    }
    let exclusions = engine.exclusions()?;
    if json {
        text::json(&exclusions)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for path in &exclusions.paths {
        writeln!(out, "{}", text::line(path, 200))?;
    }
    if exclusions.paths.is_empty() {
        writeln!(out, "nothing is excluded")?;
    }
    if 0 < exclusions.n_kept {
        let kept = count(exclusions.n_kept, "session");
        writeln!(out, "{kept} from there are kept: `ai-hist forget --project PATH` removes them")?;
    }
    Ok(ExitCode::SUCCESS)
}
