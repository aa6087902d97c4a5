//! One pass over one feed: open, read batches, say where it ended.

use ai_hist_connector::{Budget, Connector, ConnectorError, Feed, Start};
use ai_hist_model::Cursor;
use ai_hist_store::{Commit, Origin, Step};

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
}

impl Pass<'_> {
    /// Reads to the feed's present end and hands each step to `take`, which says whether to go on.
    /// On an error, what was read before stands; see [`Pass::failure`].
    pub(crate) fn run(&self, take: &mut dyn FnMut(Step) -> bool) -> Result<(), ConnectorError> {
        let cursor = self.cursor.clone();
        read(&*self.source.connector, self.feed, cursor, &mut |commit| take(self.step(commit)))
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

    fn step(&self, commit: Commit) -> Step {
        Step {
            connector: self.source.id.clone(),
            feed: self.feed.id.clone(),
            path: self.feed.place.path().map(|it| it.display().to_string()),
            origin: self.origin.clone(),
            commit,
        }
    }
}

fn read(
    connector: &dyn Connector,
    feed: &Feed,
    cursor: Option<Cursor>,
    take: &mut dyn FnMut(Commit) -> bool,
) -> Result<(), ConnectorError> {
    let budget = Budget { records: MAX_BATCH_RECORDS, bytes: MAX_BATCH_BYTES };
    let mut reader = connector.open(feed, cursor.as_ref())?;
    let mut restarted = cursor.is_some() && reader.start() == Start::Restarted;
    let mut after = cursor;
    while let Some(batch) = reader.next_batch(budget)? {
        let next = batch.cursor.clone();
        if !take(Commit::Batch { after, restarted, batch: Box::new(batch) }) {
            return Ok(());
        }
        after = Some(next);
        restarted = false;
    }
    // The stamp is from before the pass: what was appended since makes the next listing differ.
    let stamp = feed.stamp.map(|it| (it.n_bytes, it.modified_ms));
    take(Commit::End { stamp, rest: reader.rest().to_vec() });
    Ok(())
}
