//! Promises about files that change under a reader, and files that are damaged.

use std::fs;

use ai_hist_connector::{
    FeedPlace, Start, jsonl,
    model::{Author, Cursor, Event, EventBody, SessionId, Timestamp, Usage},
};

use super::{Stage, Transcript};
use crate::{
    reading::{EVERYTHING, Reading, pass, reading, same, same_bytes, same_list},
    recording::write_transcript,
};

const BAD_LINE: &[u8] = b"{\"broken\": tru\n";

pub(super) fn a_torn_last_line_waits(stage: &Stage<'_>) -> Result<(), String> {
    stage.on_each_transcript(|transcript| {
        let Some((first, end)) = last_line(transcript.bytes) else {
            return Ok(());
        };
        // In its middle, before its last byte, and before its newline.
        for cut in [first + (end - first).div_ceil(2), end - 1, end] {
            torn_at(transcript, first, cut).map_err(|what| {
                format!("torn at byte {cut} of {}: {what}", transcript.bytes.len())
            })?;
        }
        Ok(())
    })
}

pub(super) fn a_rewritten_file_restarts(stage: &Stage<'_>) -> Result<(), String> {
    stage.on_each_transcript(|transcript| {
        let Some(cursor) = &transcript.whole.cursor else {
            return Ok(());
        };
        let bytes = transcript.bytes;
        let second = bytes.iter().position(|it| *it == b'\n').map_or(bytes.len(), |at| at + 1);
        rewritten_to(transcript, cursor, &bytes[second..])
            .map_err(|what| format!("without its first line: {what}"))?;
        rewritten_to(transcript, cursor, &[BAD_LINE, bytes].concat())
            .map_err(|what| format!("with another first line: {what}"))
    })
}

pub(super) fn one_bad_line_costs_one_line(stage: &Stage<'_>) -> Result<(), String> {
    stage.on_each_transcript(|transcript| {
        let starts = line_starts(transcript.bytes);
        let Some(last) = starts.last() else {
            return Ok(());
        };
        for at in [0, starts[starts.len() / 2], *last] {
            let (before, after) = transcript.bytes.split_at(at);
            write_transcript(transcript.path, &[before, BAD_LINE, after].concat())?;
            let damaged = reading(transcript.connector, transcript.feed, EVERYTHING)?;
            only_one_is_lost(&transcript.whole, &damaged)
                .map_err(|what| format!("with a bad line at byte {at}: {what}"))?;
        }
        Ok(())
    })
}

pub(super) fn a_missing_file_is_an_error(stage: &Stage<'_>) -> Result<(), String> {
    let stage = Stage::set(stage.spec, stage.recording)?;
    for feed in stage.feeds()? {
        let (FeedPlace::AppendedFile(path) | FeedPlace::RewrittenFile(path)) = &feed.place else {
            continue;
        };
        fs::remove_file(path).map_err(|error| format!("cannot remove the copy: {error}"))?;
        if pass(&*stage.connector, &feed, None, EVERYTHING).is_ok() {
            return Err(format!("`{}` is gone and reads as if it were empty", feed.id));
        }
    }
    Ok(())
}

fn torn_at(transcript: &Transcript<'_>, first: usize, cut: usize) -> Result<(), String> {
    let Transcript { connector, feed, path, bytes, whole } = transcript;
    write_transcript(path, &bytes[..cut])?;
    let torn = pass(*connector, feed, None, EVERYTHING)?;
    let mut sum = Reading::default();
    sum.add_pass(torn);
    let waits = !is_whole_object(&bytes[first..cut]);
    if waits {
        same_bytes("the torn line and the rest", &bytes[first..cut], &sum.rest)?;
    }
    write_transcript(path, bytes)?;
    let more = pass(*connector, feed, sum.cursor.as_ref(), EVERYTHING)?;
    if sum.cursor.is_some() && more.start != Start::Continued {
        return Err("begins anew when the line is complete".to_owned());
    }
    sum.add_pass(more);
    whole.same_as(&sum)
}

fn rewritten_to(
    transcript: &Transcript<'_>,
    cursor: &Cursor,
    rewritten: &[u8],
) -> Result<(), String> {
    let Transcript { connector, feed, path, .. } = transcript;
    write_transcript(path, rewritten)?;
    let again = pass(*connector, feed, Some(cursor), EVERYTHING)?;
    if again.start != Start::Restarted {
        return Err("is continued".to_owned());
    }
    let mut sum = Reading::default();
    sum.add_pass(again);
    same_bytes("what is there and what is read", rewritten, &[sum.raw, sum.rest].concat())
}

/// What stays of an event when its place changes: an id may be made of the place.
#[derive(Debug, PartialEq)]
struct Lasting<'a> {
    session: SessionId,
    at: Option<Timestamp>,
    author: &'a Author,
    body: &'a EventBody,
}

fn only_one_is_lost(whole: &Reading, damaged: &Reading) -> Result<(), String> {
    let lasting = |it: &Reading| -> Vec<String> {
        let of = |event: &Event| {
            let Event { session, at, author, body, .. } = event;
            format!("{:?}", Lasting { session: *session, at: *at, author, body })
        };
        it.events.iter().map(of).collect()
    };
    same_list("event", &lasting(whole), &lasting(damaged))?;
    let costs = |it: &Reading| -> Vec<Usage> {
        it.usage.iter().map(|it| Usage { key: String::new(), ..it.clone() }).collect()
    };
    same_list("usage", &costs(whole), &costs(damaged))?;
    same("the facts", &whole.facts, &damaged.facts)?;
    same("understood", &whole.tally.understood, &damaged.tally.understood)?;
    same("ignored", &whole.tally.ignored, &damaged.tally.ignored)?;
    same("unknown", &whole.tally.unknown, &damaged.tally.unknown)?;
    same("damaged", &(whole.tally.damaged + 1), &damaged.tally.damaged)?;
    same("the number of skipped records", &(whole.skipped.len() + 1), &damaged.skipped.len())
}

/// The last line that is not blank: its first byte, and the one after its last.
fn last_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.iter().rposition(|it| !it.is_ascii_whitespace() && *it != 0)? + 1;
    let first = bytes[..end].iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    Some((first, end))
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|it| *it == b'\n') {
        starts.push(at);
        at += line.len();
    }
    starts
}

fn is_whole_object(line: &[u8]) -> bool {
    let text = jsonl::text(line);
    let parses = |text: &str| serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok();
    parses(&text) || jsonl::repair(&text).is_some_and(|it| parses(&it))
}
