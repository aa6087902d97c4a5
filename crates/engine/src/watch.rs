//! Keeping store and index up to date for as long as a process lives.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use ai_hist_connector::{Availability, Watch};
use ai_hist_ingest::{
    Keeper, Lead, Outcome, Resignation, Source, WatchSetup, follow, outlook, sync,
};
use ai_hist_model::{Coded as _, ErrorCode, message_with_causes};
use ai_hist_store::Store;
use serde::Serialize;

pub use ai_hist_ingest::{Means, WatchMode, WatchState, Watcher};

use crate::{
    ConnectorStatus, Engine, EngineError,
    limits::{FIRST_LOOK_WHEN_USED, MAX_TOLD_EVENTS, WATCH_PART_BYTES},
    time,
};

/// How to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchPlan {
    /// How to learn of changes.
    pub means: Means,
    /// When to begin.
    pub begin: Begin,
    /// The program that this process runs. When another file stands there, the watching ends.
    pub executable: Option<PathBuf>,
}

/// When to begin to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At once.
    AtOnce,
    /// When the store has been opened for somebody who asked something of it.
    OnceUsed,
}

/// What a watcher tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchNews {
    /// It watches.
    Watching {
        /// How it learns of changes.
        by: WatchedBy,
        /// Why it looks at intervals, if it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It took something in.
    Took(TakenIn),
    /// A pass failed, and is tried again.
    Failed {
        /// Why.
        reason: String,
        /// How many have failed.
        times: u64,
    },
    /// It does not watch any more: a newer program has to.
    Resigned {
        /// Why.
        reason: String,
    },
}

/// How a watcher learns of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchedBy {
    /// The system tells.
    Notices,
    /// By looking at intervals.
    Intervals,
}

/// What a pass took in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TakenIn {
    /// When.
    pub at: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Transcripts that had changed and were read.
    pub transcripts: u64,
    /// Transcripts that could not be read.
    pub failed: u64,
    /// New events.
    pub events: u64,
    /// Bytes read and archived.
    pub bytes: u64,
    /// Events indexed.
    pub indexed: u64,
    /// The sessions of the first thousand new events.
    pub sessions: Vec<String>,
}

impl Engine {
    /// Watches until the watcher is dropped, on a thread of its own; `tell` is called there.
    ///
    /// Every process may watch. On a change one of them takes it in, and the others see that there
    /// is nothing left to do.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub fn watch(
        self: Arc<Self>,
        plan: WatchPlan,
        tell: impl FnMut(WatchNews) + Send + 'static,
    ) -> io::Result<Watcher> {
        let first_look = match plan.begin {
            Begin::AtOnce => Duration::ZERO,
            Begin::OnceUsed => FIRST_LOOK_WHEN_USED,
        };
        let setup = WatchSetup { means: plan.means, first_look, executable: plan.executable };
        let live = Live {
            engine: self,
            begin: plan.begin,
            late: Vec::new(),
            mode: WatchMode::Waiting,
            tell: Box::new(tell),
        };
        Watcher::start(setup, Box::new(live))
    }
}

/// An engine that is kept up to date.
struct Live {
    engine: Arc<Engine>,
    begin: Begin,
    /// Sources that had nothing to read when the engine was set up: agents installed since.
    late: Vec<Source>,
    /// The mode that was told last.
    mode: WatchMode,
    tell: Box<dyn FnMut(WatchNews) + Send>,
}

impl Keeper for Live {
    fn ready(&mut self) {
        if self.begin == Begin::OnceUsed {
            self.engine.store.wait();
        }
    }

    fn watches(&mut self) -> Vec<Watch> {
        self.find_late();
        let sources = self.engine.sources().local.iter().chain(&self.late);
        sources.map(|it| it.connector.watch()).collect()
    }

    fn pass(&mut self, is_over: &dyn Fn() -> bool) -> Outcome {
        match self.take_in(is_over) {
            Ok(outcome) => outcome,
            Err(error) if error.code() == ErrorCode::StoreTooNew => {
                Outcome::Resigned(Resignation::StoreTooNew)
            }
            Err(error) => Outcome::Failed(message_with_causes(&error)),
        }
    }

    fn told(&mut self, state: &WatchState) {
        if self.mode == state.mode {
            let reason = state.last_error.clone().unwrap_or_default();
            (self.tell)(WatchNews::Failed { reason, times: state.n_failed });
            return;
        }
        self.mode = state.mode.clone();
        let news = match &state.mode {
            WatchMode::Waiting => return,
            WatchMode::Notices => WatchNews::Watching { by: WatchedBy::Notices, reason: None },
            WatchMode::Polling(reason) => {
                WatchNews::Watching { by: WatchedBy::Intervals, reason: Some(reason.clone()) }
            }
            WatchMode::Resigned(why) => WatchNews::Resigned { reason: why.to_string() },
        };
        (self.tell)(news);
    }
}

impl Live {
    /// Sets up the connectors that had nothing to read before and have now.
    fn find_late(&mut self) {
        let engine = &self.engine;
        for state in &engine.sources().states {
            let is_known = self.late.iter().any(|it| it.id == state.id);
            if is_known || !matches!(state.status, ConnectorStatus::Absent(_)) {
                continue;
            }
            let Some(spec) = engine.spec(&state.id).filter(|it| !it.capabilities.workspace) else {
                continue;
            };
            let settings = engine.config.as_ref().ok().and_then(|it| it.plugins.get(&spec.id));
            let settings = settings.cloned().unwrap_or_default();
            // One that cannot be set up is said by `connectors`, as before.
            if let Ok(Availability::Ready(connector)) =
                (spec.configure)(&settings, &engine.setup.host)
            {
                self.late.push(Source { id: spec.id.clone(), connector });
            }
        }
    }

    fn take_in(&mut self, is_over: &dyn Fn() -> bool) -> Result<Outcome, EngineError> {
        let began = Instant::now();
        let engine = Arc::clone(&self.engine);
        let store = engine.store()?;
        let Some(_lead) = Lead::take(engine.state(), Duration::ZERO)? else {
            return Ok(Outcome::Busy);
        };
        let first_row = store.last_row()?;
        let mut taken = TakenIn::default();
        let mut outcome = Outcome::Took;
        for sources in [&engine.sources().local, &self.late] {
            let mut found = outlook(store, sources)?;
            loop {
                let rest = found.split_off_oldest(WATCH_PART_BYTES);
                let summary = sync(store, found, &|_| {})?;
                taken.transcripts += summary.n_read + summary.n_reread;
                taken.failed += summary.n_failed;
                taken.events += summary.n_events;
                taken.bytes += summary.n_bytes;
                if rest.n_changed() == 0 {
                    break;
                }
                if is_over() {
                    outcome = Outcome::TookPart;
                    break;
                }
                taken.indexed += follow(store, engine.index()?, &|_| {})?;
                found = rest;
            }
        }
        taken.indexed += follow(store, engine.index()?, &|_| {})?;
        if (taken.events, taken.bytes, taken.indexed) == (0, 0, 0) {
            return Ok(Outcome::Nothing);
        }
        taken.at = time(engine.now());
        taken.sessions = sessions_after(store, first_row)?;
        taken.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        (self.tell)(WatchNews::Took(taken));
        Ok(outcome)
    }
}

/// The sessions of the first events after `row`, by name.
fn sessions_after(store: &Store, row: u64) -> Result<Vec<String>, EngineError> {
    let mut rows: Vec<_> =
        store.events_after(row, MAX_TOLD_EVENTS)?.into_iter().map(|it| it.session).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut names = Vec::new();
    for row in rows {
        names.extend(store.session_of_row(row)?.map(|it| it.facts.key.to_string()));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use ai_hist_connector::{
        Capabilities, Connector, ConnectorError, ConnectorSpec, Discovery, Feed, FeedReader, Host,
        Settings,
    };
    use ai_hist_model::{ConnectorId, Cursor, Timestamp};

    use super::*;
    use crate::Setup;

    const SPECS: &[ConnectorSpec] = &[ConnectorSpec {
        id: ConnectorId::from_static("later"),
        display_name: "Later",
        capabilities: Capabilities { resume: false, seed: false, workspace: false },
        options: &[],
        default_on: true,
        configure,
    }];

    /// An agent that is installed when its folder is there.
    fn configure(_: &Settings, host: &Host) -> Result<Availability, ConnectorError> {
        let root = host.home.join("later");
        if root.is_dir() {
            return Ok(Availability::Ready(Box::new(Later { root })));
        }
        Ok(Availability::Absent("is not installed".to_owned()))
    }

    #[derive(Debug)]
    struct Later {
        root: PathBuf,
    }

    impl Connector for Later {
        fn discover(&self) -> Result<Discovery, ConnectorError> {
            Ok(Discovery::default())
        }

        fn open(
            &self,
            _: &Feed,
            _: Option<&Cursor>,
        ) -> Result<Box<dyn FeedReader>, ConnectorError> {
            Err(ConnectorError::Unsupported { what: "read" })
        }

        fn watch(&self) -> Watch {
            Watch::Paths(vec![self.root.clone()])
        }
    }

    fn live(folder: &std::path::Path) -> Live {
        let setup = Setup {
            state: folder.join("state"),
            host: Host { home: folder.to_owned(), vars: BTreeMap::new() },
            specs: SPECS,
            config: None,
            cwd: None,
            parent_pid: None,
            now: || Timestamp(0),
        };
        Live {
            engine: Arc::new(Engine::new(setup)),
            begin: Begin::AtOnce,
            late: Vec::new(),
            mode: WatchMode::Waiting,
            tell: Box::new(|_| {}),
        }
    }

    #[test]
    fn an_agent_that_is_installed_later_is_watched_from_then_on() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let mut live = live(dir.path());
        assert_eq!(live.watches(), []);
        let root = dir.path().join("later");
        fs::create_dir(&root).expect("makes a folder");
        for _ in 0..2 {
            assert_eq!(live.watches(), [Watch::Paths(vec![root.clone()])], "once, not twice");
        }
    }

    #[test]
    fn whoever_finds_another_at_work_leaves_it_alone() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let mut live = live(dir.path());
        let going_on = || false;
        assert_eq!(live.pass(&going_on), Outcome::Nothing, "and makes the store");
        let lead = Lead::take(live.engine.state(), Duration::ZERO).expect("locks");
        assert_eq!(live.pass(&going_on), Outcome::Busy);
        drop(lead);
        assert_eq!(live.pass(&going_on), Outcome::Nothing);
    }
}
