//! Every promise, by name.

mod change;
mod machine;
mod progress;
mod record;

use std::path::Path;

use ai_hist_connector::{Connector, ConnectorSpec, Feed, FeedPlace};

use crate::{
    reading::{EVERYTHING, Reading, reading},
    recording::{Machine, Recording, transcript, write_transcript},
};

type Promise = fn(&Stage<'_>) -> Result<(), String>;

macro_rules! promises {
    ($($module:ident::$name:ident,)*) => { &[$((stringify!($name), $module::$name as Promise),)*] };
}

/// Every promise but the golden text, which is looked at when all of these are kept.
pub(crate) const PROMISES: &[(&str, Promise)] = promises![
    machine::discovery_repeats_itself,
    machine::an_empty_machine_is_no_error,
    progress::batch_size_changes_nothing,
    progress::any_cursor_resumes,
    progress::the_end_is_quiet,
    progress::a_foreign_cursor_restarts,
    record::the_raw_bytes_are_the_file,
    record::the_tally_accounts_for_every_line,
    record::event_ids_are_unique,
    record::every_session_is_stated,
    record::every_span_is_a_record,
    change::a_torn_last_line_waits,
    change::a_rewritten_file_restarts,
    change::one_bad_line_costs_one_line,
    change::a_missing_file_is_an_error,
    machine::locate_finds_the_feed,
    machine::declared_capabilities_are_true,
    machine::nothing_is_written,
];

/// A connector on a copy of a recording.
pub(crate) struct Stage<'a> {
    pub(crate) spec: &'a ConnectorSpec,
    pub(crate) recording: &'a Recording,
    pub(crate) machine: Machine,
    pub(crate) connector: Box<dyn Connector>,
}

/// A feed that is one file, on a copy that may be spoiled.
struct Transcript<'a> {
    connector: &'a dyn Connector,
    feed: &'a Feed,
    path: &'a Path,
    bytes: &'a [u8],
    /// The undisturbed reading.
    whole: Reading,
}

impl<'a> Stage<'a> {
    pub(crate) fn set(spec: &'a ConnectorSpec, recording: &'a Recording) -> Result<Self, String> {
        let machine = recording.copy()?;
        let connector = machine.connector(spec)?;
        Ok(Self { spec, recording, machine, connector })
    }

    pub(crate) fn feeds(&self) -> Result<Vec<Feed>, String> {
        feeds(&*self.connector)
    }

    /// Runs `check` on each file that its agent appends to. The file is restored afterwards.
    fn on_each_transcript(
        &self,
        check: impl Fn(&Transcript<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let stage = Stage::set(self.spec, self.recording)?;
        for feed in stage.feeds()? {
            let FeedPlace::AppendedFile(path) = &feed.place else {
                continue;
            };
            let connector = &*stage.connector;
            let bytes = transcript(path)?;
            let whole = reading(connector, &feed, EVERYTHING)?;
            check(&Transcript { connector, feed: &feed, path, bytes: &bytes, whole })
                .map_err(|what| format!("`{}`: {what}", feed.id))?;
            write_transcript(path, &bytes)?;
        }
        Ok(())
    }
}

fn feeds(connector: &dyn Connector) -> Result<Vec<Feed>, String> {
    Ok(connector.discover().map_err(|error| format!("cannot discover: {error}"))?.feeds)
}
