//! `ai-hist export`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use ai_hist_engine::{Engine, ExportFormat, Secrets};

use crate::report::CliError;

/// Write a session as Markdown or JSON lines, secrets replaced
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id or the beginning of it, `source:id`, `latest`, or words of its title
    reference: String,

    /// What it looks like [default: Markdown; with `--json` JSON lines]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Where to; a file that is there is not touched [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Leave secrets as they were recorded
    #[arg(long)]
    keep_secrets: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A document to read
    Markdown,
    /// A line for the session, then one for each event
    Jsonl,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let format = match args.format {
        Some(Format::Jsonl) => ExportFormat::JsonLines,
        None if json => ExportFormat::JsonLines,
        Some(Format::Markdown) | None => ExportFormat::Markdown,
    };
    let secrets = if args.keep_secrets { Secrets::Kept } else { Secrets::Redacted };
    let mut out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(BufWriter::new(File::create_new(path)?)),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    engine.export(&args.reference, format, secrets, &mut out)?;
    Ok(ExitCode::SUCCESS)
}
