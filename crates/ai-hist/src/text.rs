//! Text for people, and one JSON value for programs.

use std::io::{self, Write};

use ai_hist_engine::{Row, SessionRow, quoted};
use serde::Serialize;

/// Prints `value` as one JSON value.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)
}

/// One line about a session.
pub(crate) fn session(out: &mut impl Write, session: &SessionRow) -> io::Result<()> {
    let when = session.last_activity.as_deref().map_or("(no time)  ", |it| &it[..it.len().min(16)]);
    let title = line(&session.title, 70);
    writeln!(
        out,
        "{}  {:<7} {:<38} {:>5} events  {title}",
        when.replace('T', " "),
        session.source,
        session.session_id,
        session.n_events
    )?;
    if let Some(project) = &session.project {
        writeln!(out, "{:19}{}", "", line(project, 90))?;
    }
    Ok(())
}

/// An event, whole.
pub(crate) fn row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    write!(out, "── {} {}", row.seq, row.kind)?;
    for word in [&row.name, &row.path, &row.model].into_iter().flatten() {
        write!(out, " {}", line(word, 80))?;
    }
    for word in [row.change, row.outcome.filter(|it| *it != "unstated")].into_iter().flatten() {
        write!(out, " {word}")?;
    }
    if let Some(at) = &row.at {
        write!(out, "  {at}")?;
    }
    writeln!(out)?;
    for text in [&row.text, &row.input, &row.output].into_iter().flatten() {
        if !text.is_empty() {
            writeln!(out, "{}", quoted(text.trim_end()))?;
        }
    }
    Ok(())
}

/// `text` on one line of at most `max` characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let joined = quoted(&joined);
    match joined.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &joined[..at]),
        None => joined.into_owned(),
    }
}

/// A number of bytes for people.
pub(crate) fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

/// `n` of `noun`, in the plural unless it is one.
pub(crate) fn count(n: u64, noun: &str) -> String {
    let n_words = indicatif::HumanCount(n);
    if n == 1 { format!("{n_words} {noun}") } else { format!("{n_words} {noun}s") }
}
