//! `ai-hist events`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, EventFilter, EventRequest, RowStyle};

use crate::{report::CliError, text};

/// How many events are read at once. The output does not depend on it.
const PAGE: usize = 500;

/// Print the events of a session, whole and in order; with --json one object a line
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id or the beginning of it, `source:id`, `latest`, or words of its title
    reference: String,

    /// Only events of this kind, such as prompt, message, tool_call, file_edit (can be repeated)
    #[arg(long = "kind")]
    kinds: Vec<String>,

    /// From this event number on
    #[arg(long, default_value_t = 0)]
    from: u64,

    /// At most this many
    #[arg(long, short = 'n')]
    limit: Option<usize>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let filter = EventFilter::parse(args.kinds.iter().map(String::as_str))?;
    let session = engine.current(&args.reference)?;
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut from = args.from;
    let mut out = io::stdout().lock();
    while 0 < left {
        let request =
            EventRequest { filter: filter.clone(), from: Some(from), limit: Some(PAGE.min(left)) };
        let page = engine.events(&session, &request, RowStyle::whole())?;
        left -= page.events.len();
        for row in &page.events {
            if json {
                serde_json::to_writer(&mut out, row).map_err(io::Error::from)?;
                writeln!(out)?;
            } else {
                text::row(&mut out, row)?;
            }
        }
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    Ok(ExitCode::SUCCESS)
}
