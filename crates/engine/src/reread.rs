//! Reading the archive again with the connectors as they are now.

use ai_hist_ingest::{Lead, Phase, Progress, follow, reparse};
use serde::Serialize;

use crate::{Engine, EngineError, limits::SYNC_PATIENCE};

/// What reading again did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ReparseReport {
    /// Transcripts that were read again.
    pub n_transcripts: u64,
    /// Events they have now.
    pub n_events: u64,
    /// Events indexed again.
    pub n_indexed: u64,
    /// Transcripts that cannot be read from the archive alone, with the reason.
    pub problems: Vec<String>,
}

impl Engine {
    /// Reads from the archive again what was read of a session, or all there is. Ids stay, and
    /// nothing that is archived is lost; what this version understands better becomes events.
    pub fn reparse(
        &self,
        reference: Option<&str>,
        on_progress: &dyn Fn(Progress),
    ) -> Result<ReparseReport, EngineError> {
        let store = self.store()?;
        let _lead = Lead::take(self.state(), SYNC_PATIENCE)?;
        let feeds = match reference {
            Some(reference) => store.feeds_of_session(self.resolve(reference)?.row)?,
            None => store.accounts()?,
        };
        let mut report = ReparseReport::default();
        let mut done = Vec::new();
        let total = feeds.len() as u64;
        for feed in feeds.iter().filter(|it| !it.is_hidden && it.is_read()) {
            if done.contains(&feed.id) {
                continue;
            }
            let Some(source) =
                self.sources().local.iter().find(|it| it.id.as_str() == feed.connector)
            else {
                continue;
            };
            let cluster = store.cluster(feed.id)?;
            done.extend(cluster.feeds.iter().map(|it| it.id));
            match reparse(store, source, &cluster, self.state())? {
                Some(taken) => {
                    report.n_transcripts += cluster.feeds.len() as u64;
                    report.n_events += taken.n_events;
                }
                None => report.problems.push(format!("`{}` is no plain file", feed.name)),
            }
            let done = done.len() as u64;
            on_progress(Progress { phase: Phase::Rereading, done, total });
        }
        report.n_indexed = follow(store, self.index()?, on_progress)?;
        Ok(report)
    }
}
