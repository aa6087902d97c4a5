//! Promises about going through a feed.

use ai_hist_connector::{
    Connector, Feed, Start,
    model::{Batch, Cursor},
};

use super::Stage;
use crate::reading::{
    EVERYTHING, ONE_BYTE, ONE_RECORD, Reading, THREE_RECORDS, next_batch, open, pass, reading,
};

pub(super) fn batch_size_changes_nothing(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let whole = reading(&*stage.connector, &feed, EVERYTHING)?;
        for budget in [ONE_RECORD, THREE_RECORDS, ONE_BYTE] {
            let other = reading(&*stage.connector, &feed, budget)?;
            whole.same_as(&other).map_err(|what| {
                let (records, bytes) = (budget.records, budget.bytes);
                format!("`{}` at once, and by {records} records and {bytes} bytes: {what}", feed.id)
            })?;
        }
    }
    Ok(())
}

pub(super) fn any_cursor_resumes(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let whole = reading(&*stage.connector, &feed, EVERYTHING)?;
        let batches = pass(&*stage.connector, &feed, None, ONE_RECORD)?.batches;
        let chain = with_a_reader_for_each_record(&*stage.connector, &feed, batches.len())?;
        whole.same_as(&chain).map_err(|what| {
            format!("`{}` at once, and with a new reader for each record: {what}", feed.id)
        })?;
        for cut in [1, batches.len() / 2] {
            let (before, _) = batches.split_at(cut.min(batches.len()));
            let resumed = after(&*stage.connector, &feed, before)?;
            whole
                .same_as(&resumed)
                .map_err(|what| format!("`{}` resumed after record {cut}: {what}", feed.id))?;
        }
    }
    Ok(())
}

pub(super) fn the_end_is_quiet(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let whole = reading(&*stage.connector, &feed, EVERYTHING)?;
        let Some(cursor) = &whole.cursor else {
            continue;
        };
        let more = pass(&*stage.connector, &feed, Some(cursor), EVERYTHING)?;
        let mut said = Reading::default();
        let start = more.start;
        said.add_pass(more);
        if start != Start::Continued {
            return Err(format!("`{}` begins anew and has not changed", feed.id));
        }
        let n_records = said.tally.records();
        if (said.events.len(), said.skipped.len(), n_records, said.raw.len()) != (0, 0, 0, 0) {
            let n_events = said.events.len();
            return Err(format!(
                "`{}` says {n_events} events of {n_records} records again after its end",
                feed.id
            ));
        }
    }
    Ok(())
}

pub(super) fn a_foreign_cursor_restarts(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let whole = reading(&*stage.connector, &feed, EVERYTHING)?;
        for words in ["", "not a cursor of yours", "1:1:1:1", "18446744073709551615:1:0:0"] {
            let cursor = Cursor::new(words.to_owned());
            let restarted = pass(&*stage.connector, &feed, Some(&cursor), EVERYTHING)?;
            if restarted.start != Start::Restarted {
                return Err(format!("`{}` continues at the foreign cursor `{words}`", feed.id));
            }
            let mut reading = Reading::default();
            reading.add_pass(restarted);
            whole
                .same_as(&reading)
                .map_err(|what| format!("`{}` at the foreign cursor `{words}`: {what}", feed.id))?;
        }
    }
    Ok(())
}

fn with_a_reader_for_each_record(
    connector: &dyn Connector,
    feed: &Feed,
    n_batches: usize,
) -> Result<Reading, String> {
    let mut reading = Reading::default();
    // One more than there are: a reader that never ends is to be seen, not waited for.
    for _ in 0..=n_batches {
        let mut reader = open(connector, feed, reading.cursor.as_ref())?;
        if reading.cursor.is_some() && reader.start() != Start::Continued {
            return Err(format!("`{}` begins anew and has not changed", feed.id));
        }
        let Some(batch) = next_batch(&mut *reader, feed, ONE_RECORD)? else {
            reading.rest = reader.rest().to_vec();
            return Ok(reading);
        };
        reading.add(batch);
    }
    Err(format!("`{}` has more records with a new reader for each", feed.id))
}

fn after(connector: &dyn Connector, feed: &Feed, before: &[Batch]) -> Result<Reading, String> {
    let mut reading = Reading::default();
    for batch in before {
        reading.add(batch.clone());
    }
    let more = pass(connector, feed, reading.cursor.as_ref(), EVERYTHING)?;
    reading.add_pass(more);
    Ok(reading)
}
