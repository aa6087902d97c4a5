//! `ai-hist search`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use ai_hist_engine::{Engine, SearchRequest};

use crate::{
    report::CliError,
    text::{self, count, line},
};

/// Search every session for words, "phrases", paths, identifiers, error lines
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to look for, nothing for the newest events; put `--` before words that begin with `-`
    query: Vec<String>,

    /// How many hits
    #[arg(long, short = 'n', default_value_t = 10)]
    limit: usize,

    /// Go on after a page: its `next_cursor`
    #[arg(long, allow_hyphen_values = true)]
    cursor: Option<String>,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let request = SearchRequest {
        query: args.query.join(" "),
        limit: Some(args.limit),
        cursor: args.cursor.clone(),
    };
    let answer = engine.search(&request)?;
    if json {
        text::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for hit in &answer.hits {
        let when = hit.at.as_deref().map_or("", |it| &it[..it.len().min(16)]).replace('T', " ");
        writeln!(out, "{when}  {}:{}  event {} {}", hit.source, hit.session_id, hit.seq, hit.kind)?;
        writeln!(out, "    {}", line(&hit.title, 90))?;
        writeln!(out, "    {}", line(&hit.snippet, 300))?;
    }
    let shown = answer.hits.len();
    match answer.total {
        0 => writeln!(out, "nothing matches")?,
        total => writeln!(out, "{shown} of {}", count(total, "matching event"))?,
    }
    drop(out);
    for note in &answer.notes {
        writeln!(io::stderr(), "note: {note}")?;
    }
    Ok(ExitCode::SUCCESS)
}
