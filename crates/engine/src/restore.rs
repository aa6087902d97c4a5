//! Giving transcripts back to the agent that wrote them.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter},
    path::{Component, Path, PathBuf},
};

use ai_hist_store::{FeedAccount, SessionRow, Store, StoredSession};
use serde::Serialize;

use crate::{Engine, EngineError};

/// What is to be written back, and where to.
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// The session; `None` for every transcript there is.
    pub reference: Option<String>,
    /// Below this folder, at the path that the file had below the home folder. `None`: where the
    /// file was.
    pub to: Option<PathBuf>,
    /// Which generation of a file that was rewritten: from 0; `None` for the last one.
    pub generation: Option<i64>,
}

/// What was written back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RestoreReport {
    /// The files.
    pub files: Vec<RestoredFile>,
}

/// A file that was written back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoredFile {
    /// Where.
    pub path: PathBuf,
    /// How many bytes it has.
    pub n_bytes: u64,
    /// Whether it was written, or is there already as it was.
    pub status: RestoreStatus,
    /// Which generation it is.
    pub generation: i64,
    /// How many generations there are: more than 1 if its agent has rewritten it.
    pub n_generations: i64,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreStatus {
    /// It was written.
    Written,
    /// It is there already, byte for byte.
    Unchanged,
}

/// A file on its way back.
struct Job {
    feed: FeedAccount,
    generation: i64,
    path: PathBuf,
    is_there: bool,
}

impl Engine {
    /// Writes transcripts back as they were read. Touches no file that is there and differs: if
    /// there is one, nothing is written at all.
    ///
    /// The files are new to the system, so an agent that removes old transcripts by their age
    /// keeps them for as long as it keeps new ones.
    pub fn restore(&self, request: &RestoreRequest) -> Result<RestoreReport, EngineError> {
        let store = self.store()?;
        let mut jobs = Vec::new();
        for feed in self.feeds_to_restore(request)? {
            let Some(original) = feed.path.as_deref() else { continue };
            let path = match &request.to {
                Some(folder) => folder.join(self.below_home(original)),
                None => original.to_owned(),
            };
            // What is archived is unpacked.
            let path = if path.extension().is_some_and(|it| it == "zst") {
                path.with_extension("")
            } else {
                path
            };
            let generation = request.generation.unwrap_or(feed.generation);
            if !(0..=feed.generation).contains(&generation) {
                let problem = format!("is {generation}, and there are 0 to {}", feed.generation);
                return Err(EngineError::InvalidArgument { argument: "generation", problem });
            }
            let is_there = match fs::symlink_metadata(&path) {
                Ok(_) if is_same(store, &feed, generation, &path)? => true,
                Ok(_) => return Err(EngineError::RestoreConflict { path }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(source) => return Err(EngineError::RestoreFailed { path, source }),
            };
            jobs.push(Job { feed, generation, path, is_there });
        }
        let mut report = RestoreReport::default();
        for job in jobs {
            let n_generations = job.feed.generation + 1;
            let (n_bytes, status) = if job.is_there {
                (job.path.metadata().map_or(0, |it| it.len()), RestoreStatus::Unchanged)
            } else {
                (write(store, &job)?, RestoreStatus::Written)
            };
            let Job { path, generation, .. } = job;
            report.files.push(RestoredFile { path, n_bytes, status, generation, n_generations });
        }
        Ok(report)
    }

    /// The transcripts of a session and of its sub-agents, or all there are.
    fn feeds_to_restore(&self, request: &RestoreRequest) -> Result<Vec<FeedAccount>, EngineError> {
        let store = self.store()?;
        let Some(reference) = &request.reference else {
            let mut all = store.accounts()?;
            all.retain(|it| !it.is_hidden && it.path.is_some());
            return Ok(all);
        };
        let session = self.resolve(reference)?;
        if !session.origin.is_local() {
            let session = session.facts.key.to_string();
            return Err(EngineError::NothingToRestore { session });
        }
        let family = self.with_sub_agents(session.clone())?;
        let rows: Vec<SessionRow> = family.iter().map(|it| it.row).collect();
        let mut feeds: Vec<FeedAccount> = Vec::new();
        for row in &rows {
            for feed in store.feeds_of_session(*row)? {
                // A list of everybody's prompts is not this session's transcript.
                let is_own = store.sessions_of_feed(feed.id)?.iter().all(|it| rows.contains(it));
                if is_own && !feeds.iter().any(|it| it.id == feed.id) {
                    feeds.push(feed);
                }
            }
        }
        if feeds.is_empty() {
            let session = session.facts.key.to_string();
            return Err(EngineError::NothingToRestore { session });
        }
        Ok(feeds)
    }

    /// A session and the sub-agents that worked for it, theirs included.
    pub(crate) fn with_sub_agents(
        &self,
        session: StoredSession,
    ) -> Result<Vec<StoredSession>, EngineError> {
        let store = self.store()?;
        let mut family = vec![session];
        let mut at = 0;
        while let Some(member) = family.get(at) {
            for child in store.children(&member.facts.key)? {
                let lineage = child.facts.lineage.as_ref();
                let is_sub_agent =
                    lineage.is_some_and(|it| it.relation == ai_hist_model::Relation::SubAgent);
                if is_sub_agent && !family.iter().any(|it| it.row == child.row) {
                    family.push(child);
                }
            }
            at += 1;
        }
        Ok(family)
    }

    /// The path that a file had below the home folder; below the root if it was elsewhere.
    fn below_home(&self, original: &Path) -> PathBuf {
        let below = original.strip_prefix(&self.setup.host.home).unwrap_or(original);
        below.components().filter(|it| matches!(it, Component::Normal(_))).collect()
    }
}

/// Whether the file at `path` is what would be written.
fn is_same(
    store: &Store,
    feed: &FeedAccount,
    generation: i64,
    path: &Path,
) -> Result<bool, EngineError> {
    let fail = |source| EngineError::RestoreFailed { path: path.to_owned(), source };
    if !path.is_file() {
        return Ok(false);
    }
    let mut file = BufReader::new(File::open(path).map_err(fail)?);
    Ok(store.is_kept(feed, generation, &mut file)?)
}

/// Writes a file aside and gives it its name once it is whole, if nobody has taken that meanwhile.
fn write(store: &Store, job: &Job) -> Result<u64, EngineError> {
    let fail = |source| EngineError::RestoreFailed { path: job.path.clone(), source };
    let folder = job.path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(fail)?;
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(fail)?);
    let n_bytes = store.restore(&job.feed, job.generation, &mut file)?;
    let file = file.into_inner().map_err(|it| fail(it.into_error()))?;
    file.as_file().sync_all().map_err(fail)?;
    match file.persist_noclobber(&job.path) {
        Ok(_) => Ok(n_bytes),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(EngineError::RestoreConflict { path: job.path.clone() })
        }
        Err(error) => Err(fail(error.error)),
    }
}
