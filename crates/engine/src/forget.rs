//! Removing what the user wants removed, and keeping out what he wants kept out.

use ai_hist_ingest::{Lead, follow};
use ai_hist_model::{SessionKey, Timestamp};
use ai_hist_store::{Origin, StoredSession};
use serde::Serialize;

use crate::{
    Engine, EngineError, SessionRow,
    history::session_row,
    limits::{MAX_READ_EVENTS, SYNC_PATIENCE},
};

/// Which sessions are to be forgotten: those that meet every condition that is given.
#[derive(Debug, Clone, Default)]
pub struct ForgetRequest {
    /// These.
    pub references: Vec<String>,
    /// Those that worked in this folder or below it.
    pub project: Option<String>,
    /// Those that ended before.
    pub before: Option<Timestamp>,
    /// Those in which these words stand.
    pub matching: Option<String>,
}

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ForgetPlan {
    /// The sessions, with the sub-agents that worked for them.
    pub sessions: Vec<SessionRow>,
    /// How many events they have.
    pub n_events: u64,
    #[serde(skip)]
    keys: Vec<SessionKey>,
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ForgetReport {
    /// Sessions.
    pub n_sessions: u64,
    /// Events.
    pub n_events: u64,
    /// Transcripts whose bytes were removed from the archive.
    pub n_transcripts: u64,
    /// Transcripts that their agents still have. They are not ours to remove.
    pub left_on_disk: Vec<String>,
}

/// The working directories that are left unread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Exclusions {
    /// They.
    pub paths: Vec<String>,
    /// Sessions from there that were taken in before.
    pub n_kept: u64,
}

impl Engine {
    /// Says what would be forgotten. Changes nothing.
    pub fn plan_to_forget(&self, request: &ForgetRequest) -> Result<ForgetPlan, EngineError> {
        let given = [
            !request.references.is_empty(),
            request.project.is_some(),
            request.before.is_some(),
            request.matching.is_some(),
        ];
        if !given.contains(&true) {
            let problem = "is missing: name sessions, or say which".to_owned();
            return Err(EngineError::InvalidArgument { argument: "reference", problem });
        }
        self.catch_up()?;
        let store = self.store()?;
        let before = request.before.unwrap_or(Timestamp(i64::MAX));
        let mut chosen = store.sessions_to_forget(request.project.as_deref(), before)?;
        if !request.references.is_empty() {
            let mut named = Vec::new();
            for reference in &request.references {
                named.push(self.resolve(reference)?.row);
            }
            chosen.retain(|it| named.contains(&it.row));
        }
        if let Some(words) = &request.matching {
            let words = words.to_lowercase();
            let mut found = Vec::new();
            for session in chosen {
                if self.says(&session, &words)? {
                    found.push(session);
                }
            }
            chosen = found;
        }
        let mut all: Vec<StoredSession> = Vec::new();
        for session in chosen {
            for member in self.with_sub_agents(session)? {
                if !all.iter().any(|it| it.row == member.row) {
                    all.push(member);
                }
            }
        }
        Ok(ForgetPlan {
            n_events: all.iter().map(|it| it.n_events).sum(),
            sessions: all.iter().map(session_row).collect(),
            keys: all.into_iter().map(|it| it.facts.key).collect(),
        })
    }

    /// Whether `words` stand in a session to the letter, upper and lower case aside.
    ///
    /// Every event is read, and the index is not asked: it leaves out the middle of long texts and
    /// what a fork has from its parent, and what is to be forgotten must be found there too.
    fn says(&self, session: &StoredSession, words: &str) -> Result<bool, EngineError> {
        let store = self.store()?;
        let holds = |text: &str| text.to_lowercase().contains(words);
        let title = session.facts.title.as_ref().map_or("", |it| it.text.as_str());
        let mut is_found = holds(title);
        let mut from = 0;
        while !is_found {
            let n = store.words_of_session(session.row, from, MAX_READ_EVENTS, &mut |it| {
                is_found = is_found || [it.text, it.name, it.path].into_iter().any(holds);
            })?;
            if n == 0 {
                break;
            }
            from += n as u64;
        }
        Ok(is_found)
    }

    /// Removes the sessions of `plan` from store, archive, index and backups. They are not read
    /// again, also where their transcripts are still there.
    pub fn forget(&self, plan: &ForgetPlan) -> Result<ForgetReport, EngineError> {
        let store = self.store()?;
        let _lead = Lead::take(self.state(), SYNC_PATIENCE)?;
        let mut report = ForgetReport::default();
        for key in &plan.keys {
            if let Some(session) = store.session(&Origin::local(), key)? {
                for feed in store.feeds_of_session(session.row)? {
                    let path =
                        feed.path.filter(|it| it.exists()).map(|it| it.display().to_string());
                    report.left_on_disk.extend(path);
                }
            }
            let erased = store.writer()?.forget(key, self.now())?;
            report.n_sessions += erased.n_sessions;
            report.n_events += erased.n_events;
            report.n_transcripts += erased.n_feeds;
        }
        report.left_on_disk.sort();
        report.left_on_disk.dedup();
        follow(store, self.index()?, &|_| {})?;
        // What was removed is still in the log that SQLite writes ahead, and in backups.
        store.flush_log()?;
        store.drop_backups()?;
        Ok(report)
    }

    /// Lets a forgotten session be read again by the next sync.
    pub fn remember(&self, source: &str, session_id: &str) -> Result<bool, EngineError> {
        let key = crate::handoff::session_key(source, session_id)?;
        Ok(self.store()?.writer()?.remember(&key)?)
    }

    /// The working directories that are left unread.
    pub fn exclusions(&self) -> Result<Exclusions, EngineError> {
        let store = self.store()?;
        let paths = store.exclusions()?;
        let mut n_kept = 0;
        for path in &paths {
            n_kept += store.sessions_to_forget(Some(path), Timestamp(i64::MAX))?.len() as u64;
        }
        Ok(Exclusions { paths, n_kept })
    }

    /// Leaves unread what happens in `path` and below from now on. Gives whether that is new.
    pub fn exclude(&self, path: &str) -> Result<bool, EngineError> {
        Ok(self.store()?.writer()?.exclude(path)?)
    }

    /// Takes back [`Engine::exclude`]. Gives whether it was excluded.
    pub fn include(&self, path: &str) -> Result<bool, EngineError> {
        Ok(self.store()?.writer()?.include(path)?)
    }
}
