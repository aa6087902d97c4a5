//! Promises about what is said of each record.

use std::collections::{HashMap, HashSet};

use ai_hist_connector::{
    FeedPlace, jsonl,
    model::{EventBody, Span},
};

use super::Stage;
use crate::{
    reading::{EVERYTHING, ONE_RECORD, pass, reading, same, same_bytes},
    recording::transcript,
};

pub(super) fn the_raw_bytes_are_the_file(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let FeedPlace::AppendedFile(path) = &feed.place else {
            continue;
        };
        let reading = reading(&*stage.connector, &feed, EVERYTHING)?;
        if reading.rest.contains(&b'\n') {
            return Err(format!("`{}`: a whole line is left in the rest", feed.id));
        }
        let put_together = [reading.raw, reading.rest].concat();
        same_bytes("the file and the raw bytes", &transcript(path)?, &put_together)
            .map_err(|what| format!("`{}`: {what}", feed.id))?;
    }
    Ok(())
}

/// A blank line may be counted or not: it is hardly a record.
pub(super) fn the_tally_accounts_for_every_line(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let reading = reading(&*stage.connector, &feed, EVERYTHING)?;
        let tally = &reading.tally;
        let in_feed = |what: String| format!("`{}`: {what}", feed.id);
        same("damaged records and skipped ones", &tally.damaged, &(reading.skipped.len() as u64))
            .map_err(in_feed)?;
        let is_unknown = |body: &EventBody| matches!(body, EventBody::Unknown { .. });
        let n_unknown = reading.events.iter().filter(|it| is_unknown(&it.body)).count() as u64;
        let counted: u64 = tally.unknown.values().sum();
        if n_unknown < counted {
            return Err(in_feed(format!("{counted} unknown records gave {n_unknown} events")));
        }
        if matches!(feed.place, FeedPlace::RewrittenFile(_)) {
            continue;
        }
        let lines = reading.raw.split_inclusive(|it| *it == b'\n');
        let (blank, full): (Vec<&[u8]>, Vec<&[u8]>) =
            lines.partition(|it| jsonl::text(it).is_empty());
        let (n_full, n_lines) = (full.len() as u64, (full.len() + blank.len()) as u64);
        if ![n_full, n_lines].contains(&tally.records()) {
            let n_records = tally.records();
            return Err(in_feed(format!(
                "{n_records} records in the tally, {n_lines} lines of which {n_full} not blank"
            )));
        }
    }
    Ok(())
}

pub(super) fn event_ids_are_unique(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let mut seen = HashMap::new();
        for event in reading(&*stage.connector, &feed, EVERYTHING)?.events {
            let (at, kind) = (event.span.first_byte, event.kind().as_str());
            if let Some((first_at, first_kind)) = seen.insert(event.id, (at, kind)) {
                return Err(format!(
                    "`{}`: the {first_kind} at byte {first_at} and the {kind} at byte {at} have one id",
                    feed.id
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn every_session_is_stated(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let mut stated = HashSet::new();
        for batch in pass(&*stage.connector, &feed, None, ONE_RECORD)?.batches {
            stated.extend(batch.sessions.iter().map(|it| it.key.id()));
            let of_events = batch.events.iter().map(|it| it.session);
            let of_usage = batch.usage.iter().map(|it| it.session);
            if let Some(session) = of_events.chain(of_usage).find(|it| !stated.contains(it)) {
                return Err(format!(
                    "`{}`: no facts name session {session} before it is spoken of (cursor `{}`)",
                    feed.id,
                    batch.cursor.as_str()
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn every_span_is_a_record(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let in_lines = !matches!(feed.place, FeedPlace::RewrittenFile(_));
        let mut raw = Vec::new();
        let mut last = 0;
        for batch in pass(&*stage.connector, &feed, None, ONE_RECORD)?.batches {
            let first_of_batch = raw.len() as u64;
            raw.extend(batch.raw);
            for event in batch.events {
                let Span { first_byte, n_bytes } = event.span;
                let fault = |what| {
                    let kind = event.kind().as_str();
                    let id = &feed.id;
                    Err(format!("`{id}`: the {kind} at bytes {first_byte}+{n_bytes} {what}"))
                };
                if first_byte < last {
                    return fault("stands before the one it follows");
                }
                last = first_byte;
                if first_byte < first_of_batch || !is_inside(event.span, &raw) {
                    return fault("is not in the bytes of its batch");
                }
                if in_lines && !is_one_line(event.span, &raw) {
                    return fault("is not exactly one line");
                }
            }
        }
    }
    Ok(())
}

fn is_inside(span: Span, raw: &[u8]) -> bool {
    let end = span.first_byte.checked_add(span.n_bytes);
    0 < span.n_bytes && end.is_some_and(|it| it <= raw.len() as u64)
}

/// Whether `span`, which is inside `raw`, is a line without its newline.
fn is_one_line(span: Span, raw: &[u8]) -> bool {
    let (Ok(first), Ok(n)) = (usize::try_from(span.first_byte), usize::try_from(span.n_bytes))
    else {
        return false;
    };
    let begins = first == 0 || raw[first - 1] == b'\n';
    let ends = raw.get(first + n).is_none_or(|it| *it == b'\n');
    begins && ends && !raw[first..first + n].contains(&b'\n')
}
