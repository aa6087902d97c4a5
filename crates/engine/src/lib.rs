//! The one API that front-ends call. Composition only: no rule is decided here that a crate below
//! could decide.
//!
//! **Invariant:** making an [`Engine`] opens nothing and contacts nobody; each part is opened when
//! it is first needed. So a server answers its first message before any store is touched, and a
//! configuration that cannot be used fails only what needs it.

mod caller;
mod config;
mod error;
mod export;
mod forget;
mod handoff;
mod health;
mod history;
mod launch;
mod limits;
mod recovery;
mod reread;
mod restore;
mod search;
mod sources;
mod sync;
mod tree;
mod watch;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use ai_hist_connector::{ConnectorSpec, Host};
use ai_hist_index::{Identity, Index};
use ai_hist_model::{AgentId, ConnectorId, Timestamp};
use ai_hist_redact::Redactor;
use ai_hist_store::Store;

pub use ai_hist_handoff::{
    DEFAULT_PAGE_BYTES, DEFAULT_PAGE_ROWS, HandoffError, MAX_INTENT_CHARS, MAX_PAGE_BYTES,
    MAX_PAGE_ROWS, MIN_PAGE_BYTES, Order, PageRequest, Pointer, ResumePage, Row, RowStyle,
    SessionSummary, quoted, time, within,
};
pub use ai_hist_ingest::{Phase, Progress, Summary};
pub use ai_hist_model as model;
pub use ai_hist_store::AgentCount;
pub use caller::CallerHints;
pub use config::{Config, ConfigError};
pub use error::EngineError;
pub use export::{ExportFormat, Secrets};
pub use forget::{Exclusions, ForgetPlan, ForgetReport, ForgetRequest};
pub use handoff::{HandoffRequest, ResumeRequest};
pub use health::{AccountRow, Health, Problem, RetentionRow};
pub use history::{
    EventFilter, EventPage, EventRequest, EventText, SessionFilter, SessionList, SessionRow,
    SessionView, SubAgents,
};
pub use launch::Command;
pub use recovery::{RepairProgress, RepairReport};
pub use reread::ReparseReport;
pub use restore::{RestoreReport, RestoreRequest, RestoreStatus, RestoredFile};
pub use search::{Coverage, SearchAnswer, SearchHit, SearchRequest};
pub use sources::{ConnectorState, ConnectorStatus};
pub use sync::{Freshness, SyncReport};
pub use tree::{Family, SessionTree};
pub use watch::{
    Begin, Means, TakenIn, WatchMode, WatchNews, WatchPlan, WatchState, WatchedBy, Watcher,
};

use sources::Sources;

/// What an engine is made from. The binary reads it from its environment, a test from a folder.
#[derive(Debug)]
pub struct Setup {
    /// The state folder.
    pub state: PathBuf,
    /// The machine, as connectors see it.
    pub host: Host,
    /// Every connector there is.
    pub specs: &'static [ConnectorSpec],
    /// The file that configures connectors.
    pub config: Option<PathBuf>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The process that started this one.
    pub parent_pid: Option<u32>,
    /// The clock.
    pub now: fn() -> Timestamp,
}

/// Everything that ai-hist does.
#[derive(Debug)]
pub struct Engine {
    setup: Setup,
    config: Result<Config, ConfigError>,
    sources: OnceLock<Sources>,
    store: OnceLock<Store>,
    index: OnceLock<Index>,
    opening: Mutex<()>,
}

impl Engine {
    /// Makes an engine. Reads the configuration, if one is named, and nothing else.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let config = match &setup.config {
            Some(path) => Config::read(path, setup.specs),
            None => Ok(Config::default()),
        };
        Self {
            setup,
            config,
            sources: OnceLock::new(),
            store: OnceLock::new(),
            index: OnceLock::new(),
            opening: Mutex::new(()),
        }
    }

    /// The state folder.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.setup.state
    }

    /// Why the configuration cannot be used, if it cannot.
    #[must_use]
    pub fn config_error(&self) -> Option<&ConfigError> {
        self.config.as_ref().err()
    }

    /// Every connector, and whether it is at work.
    #[must_use]
    pub fn connectors(&self) -> &[ConnectorState] {
        &self.sources().states
    }

    /// The agents whose sessions may be asked for by name.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentId> {
        let ids = self.setup.specs.iter().filter(|it| !it.capabilities.workspace);
        ids.filter_map(|it| AgentId::parse(it.id.as_str())).collect()
    }

    /// What connector `id` can do.
    #[must_use]
    pub fn spec(&self, id: &ConnectorId) -> Option<&'static ConnectorSpec> {
        self.setup.specs.iter().find(|it| it.id == *id)
    }

    /// How rows for an agent are made: bounded, secrets replaced.
    #[must_use]
    pub fn style_for_agents(&self) -> RowStyle<'static> {
        RowStyle::for_agents(Redactor::builtin())
    }

    /// What time it is.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.now()
    }

    fn now(&self) -> Timestamp {
        (self.setup.now)()
    }

    fn sources(&self) -> &Sources {
        self.sources.get_or_init(|| {
            let path = self.setup.config.as_deref();
            Sources::set_up(self.setup.specs, self.config.as_ref(), path, &self.setup.host)
        })
    }

    fn store(&self) -> Result<&Store, EngineError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.store.get().is_none() {
            let store = Store::open(&self.setup.state)?;
            let _ = self.store.set(store);
        }
        Ok(self.store.get().expect("it was set above, and the lock keeps others out"))
    }

    fn index(&self) -> Result<&Index, EngineError> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let identity = Identity { store: self.store()?.uuid().to_owned() };
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.index.get().is_none() {
            let index = Index::open(&self.setup.state.join("index"), &identity)?;
            let _ = self.index.set(index);
        }
        Ok(self.index.get().expect("it was set above, and the lock keeps others out"))
    }
}
