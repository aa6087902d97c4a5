//! Reading the archive again with the connectors as they are now.

use ai_hist_ingest::{Lead, Progress, follow, reread};
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
        let sources = &self.sources().local;
        let known = feeds.iter().filter(|it| !it.is_hidden && it.is_read()).filter_map(|feed| {
            let source = sources.iter().find(|it| it.id.as_str() == feed.connector)?;
            Some((source, feed.id))
        });
        let again = reread(store, &known.collect::<Vec<_>>(), on_progress)?;
        let left = feeds.iter().filter(|it| again.left.contains(&it.id));
        let mut report = ReparseReport {
            n_transcripts: again.n_feeds,
            n_events: again.n_events,
            n_indexed: 0,
            problems: left.map(|it| format!("`{}` is no plain file", it.name)).collect(),
        };
        report.n_indexed = follow(store, self.index()?, on_progress)?;
        Ok(report)
    }
}
