//! Bringing a damaged store back.

use ai_hist_ingest::{Lead, Progress};
use ai_hist_store::{StoreError, repair};
use serde::Serialize;

use crate::{Engine, EngineError, SyncReport, limits::SYNC_PATIENCE};

/// What a repair is doing.
#[derive(Debug, Clone, Copy)]
pub enum RepairProgress<'a> {
    /// This part of the store.
    Store(&'a str),
    /// Reading the transcripts that are still there.
    Sync(Progress),
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairReport {
    /// What was wrong with the store. Nothing was done if nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// Where the damaged files are now. They are never removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// The backup that gave what the damaged file has lost, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// Sessions that were brought over.
    pub n_sessions: u64,
    /// Events that were brought over.
    pub n_events: u64,
    /// How many of these events only the backup had.
    pub n_from_backup: u64,
    /// Rows that were found and could not be used.
    pub n_unusable: u64,
    /// Archived bytes that are lost, unless their transcripts were still there.
    pub n_blank_bytes: u64,
    /// Transcripts of which something was lacking.
    pub n_incomplete: u64,
    /// What reading the transcripts gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncReport>,
}

impl Engine {
    /// Puts a sound store in the place of a damaged one, and reads every transcript that is still
    /// there. Does nothing to a store that is sound.
    ///
    /// For an engine that has not used its store yet: one that has goes on with the old file, which
    /// is refused from then on.
    pub fn repair(
        &self,
        on_progress: &dyn Fn(RepairProgress<'_>),
    ) -> Result<RepairReport, EngineError> {
        let repaired = {
            // Who reads transcripts in would have to be waited for anyway.
            let lead = Lead::take(self.state(), SYNC_PATIENCE)?;
            let _lead = lead.ok_or(StoreError::Busy)?;
            repair(self.state(), self.now(), &|part| on_progress(RepairProgress::Store(part)))?
        };
        let shown = |path: Option<std::path::PathBuf>| path.map(|it| it.display().to_string());
        let mut report = RepairReport {
            damage: repaired.damage,
            moved_to: shown(repaired.moved_to),
            backup: shown(repaired.backup),
            n_sessions: repaired.salvaged.n_sessions,
            n_events: repaired.salvaged.n_events,
            n_from_backup: repaired.salvaged.n_from_backup,
            n_unusable: repaired.salvaged.n_unusable,
            n_blank_bytes: repaired.salvaged.n_blank_bytes,
            n_incomplete: repaired.salvaged.n_incomplete,
            sync: None,
        };
        if report.damage.is_some() {
            report.sync = Some(self.sync(&|it| on_progress(RepairProgress::Sync(it)))?);
        }
        Ok(report)
    }
}
