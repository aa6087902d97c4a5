//! Reading feeds again from the archive, each once however they hang together.

use std::collections::HashSet;

use ai_hist_store::Store;

use crate::{IngestError, Phase, Progress, Source, reparse::reparse};

/// What reading again did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reread {
    /// Feeds that were read again.
    pub n_feeds: u64,
    /// Events that their sessions have now.
    pub n_events: u64,
    /// Feeds that stay as they were read: they cannot be read from the archive alone, or hang
    /// together with one that cannot.
    pub n_left: u64,
    /// Of each such group the first one that was asked for, by row.
    pub left: Vec<i64>,
}

/// Reads again `feeds`, by row, and those that tell of the same sessions.
pub fn reread(
    store: &Store,
    feeds: &[(&Source, i64)],
    on_progress: &dyn Fn(Progress),
) -> Result<Reread, IngestError> {
    let mut again = Reread::default();
    let mut done = HashSet::new();
    for (source, feed) in feeds {
        if done.contains(feed) {
            continue;
        }
        let cluster = store.cluster(*feed)?;
        let rows: Vec<i64> = cluster.feeds.iter().map(|it| it.id).collect();
        if let Some(taken) = reparse(store, source, &cluster)? {
            again.n_feeds += rows.len() as u64;
            again.n_events += taken.n_events;
        } else {
            store.writer()?.set_reading(&rows, source.connector.reading())?;
            again.n_left += rows.len() as u64;
            again.left.push(*feed);
        }
        done.extend(rows);
        let (done, total) = (done.len() as u64, feeds.len() as u64);
        on_progress(Progress { phase: Phase::Rereading, done, total });
    }
    Ok(again)
}
