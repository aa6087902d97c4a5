//! One pass over one feed: open, read batches, say where it ended.

use std::{fs::File, io};

use ai_hist_connector::{Budget, Connector, ConnectorError, Feed, FeedPlace, Start};
use ai_hist_model::{Cursor, Stamp};
use ai_hist_store::{Commit, Origin, Step, Store, StoreError};

use crate::{
    Source,
    limits::{MAX_BATCH_BYTES, MAX_BATCH_RECORDS},
};

/// What a pass reads.
pub(crate) struct Pass<'a> {
    pub(crate) source: &'a Source,
    pub(crate) origin: Origin,
    pub(crate) feed: &'a Feed,
    pub(crate) cursor: Option<Cursor>,
    /// Whether the file is another one than the cursor is of, whatever its size says.
    pub(crate) is_rewritten: bool,
}

impl Pass<'_> {
    /// Reads to the feed's present end and hands each step to `take`, which says whether to go on.
    /// On an error, what was read before stands; see [`Pass::failure`].
    pub(crate) fn run(&self, take: &mut dyn FnMut(Step) -> bool) -> Result<(), ConnectorError> {
        self.read(&mut |commit| take(self.step(commit)))
    }

    /// The step that records why reading failed.
    pub(crate) fn failure(&self, error: &ConnectorError) -> Step {
        let cause = std::error::Error::source(error);
        let problem = match cause {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        };
        self.step(Commit::Failed { problem })
    }

    /// A point where a test may make reading fail.
    fn fault(&self, point: &str) -> Result<(), ConnectorError> {
        ai_hist_fault::point(point).map_err(|injected| ConnectorError::Read {
            path: self.feed.place.path().cloned().unwrap_or_default(),
            source: io::Error::other(injected),
        })
    }

    fn step(&self, commit: Commit) -> Step {
        Step {
            connector: self.source.id.clone(),
            feed: self.feed.id.clone(),
            path: self.feed.place.path().map(|it| it.display().to_string()),
            origin: self.origin.clone(),
            reading: self.source.connector.reading(),
            commit,
        }
    }

    fn read(&self, take: &mut dyn FnMut(Commit) -> bool) -> Result<(), ConnectorError> {
        let budget = Budget { records: MAX_BATCH_RECORDS, bytes: MAX_BATCH_BYTES };
        let connector: &dyn Connector = &*self.source.connector;
        let from = if self.is_rewritten { None } else { self.cursor.as_ref() };
        self.fault("ingest::open")?;
        let mut reader = connector.open(self.feed, from)?;
        let mut restarted = self.cursor.is_some() && reader.start() == Start::Restarted;
        let mut after = self.cursor.clone();
        while let Some(batch) = reader.next_batch(budget)? {
            self.fault("ingest::batch")?;
            let next = batch.cursor.clone();
            if !take(Commit::Batch { after, restarted, batch: Box::new(batch) }) {
                return Ok(());
            }
            after = Some(next);
            restarted = false;
        }
        self.fault("ingest::end")?;
        // The stamp is from before the pass: what was appended since makes the next listing differ.
        take(Commit::End { after, stamp: self.feed.stamp, rest: reader.rest().to_vec() });
        Ok(())
    }
}

/// Whether a file that has the size it had when it was read was changed in its middle.
///
/// A cursor knows a file's beginning and the bytes before it, which tells every other change. This
/// one is looked for only where size and time do not explain that the system saw the file change.
pub(crate) fn is_rewritten(
    store: &Store,
    source: &Source,
    feed: &Feed,
    before: Option<Stamp>,
) -> Result<bool, StoreError> {
    let FeedPlace::AppendedFile(path) = &feed.place else { return Ok(false) };
    let is_plain = path.extension().is_none_or(|it| it != "zst");
    let same_size = before.zip(feed.stamp).is_some_and(|(was, is)| was.n_bytes == is.n_bytes);
    if !is_plain || !same_size {
        return Ok(false);
    }
    let (Some(account), Ok(mut file)) = (store.account(&source.id, &feed.id)?, File::open(path))
    else {
        return Ok(false);
    };
    Ok(!store.is_kept(&account, account.generation, &mut file)?)
}
