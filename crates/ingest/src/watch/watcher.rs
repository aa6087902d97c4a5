//! The thread that waits for changes and lets them be taken in.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use ai_hist_connector::Watch;

use super::{
    Keeper, Means, Outcome, Resignation, WatchMode, WatchSetup, WatchState,
    bell::Bell,
    notices::{Interest, Notices, Refusal, System},
    program::Program,
    rhythm::{Every, Rhythm},
    roots::Roots,
};
use crate::limits::{STOP_PATIENCE, SWEEP, SWEEPS_TO_RETRY};

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread ends.
    end: Receiver<()>,
}

#[derive(Debug, Default)]
struct Shared {
    bell: Arc<Bell>,
    state: Mutex<WatchState>,
    has_begun: AtomicBool,
}

/// Starts to ask for notices.
type Ask = Box<dyn FnMut(Arc<Bell>, Interest) -> Result<Box<dyn Notices>, Refusal> + Send>;

impl Watcher {
    /// Begins to watch for `keeper`, on a thread of its own.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub fn start(setup: WatchSetup, keeper: Box<dyn Keeper>) -> io::Result<Self> {
        let ask: Ask = Box::new(|bell, interest| Ok(Box::new(System::start(bell, interest)?)));
        Self::start_with(setup, keeper, ask)
    }

    fn start_with(setup: WatchSetup, keeper: Box<dyn Keeper>, ask: Ask) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (alive, end) = channel();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("ai-hist-watch".to_owned())
            .spawn(move || run(setup, keeper, ask, theirs, alive))?;
        Ok(Self { shared, thread: Some(thread), end })
    }

    /// What it says of itself.
    #[must_use]
    pub fn state(&self) -> WatchState {
        self.shared.state().clone()
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watcher {
    /// Ends the watching. A pass under way is waited for a moment, then left to the end of the
    /// process.
    fn drop(&mut self) {
        self.shared.bell.ring(|it| it.stop = true);
        if !self.shared.has_begun.load(Ordering::SeqCst) {
            return;
        }
        if let Err(RecvTimeoutError::Disconnected) = self.end.recv_timeout(STOP_PATIENCE)
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn run(
    setup: WatchSetup,
    mut keeper: Box<dyn Keeper>,
    ask: Ask,
    shared: Arc<Shared>,
    alive: Sender<()>,
) {
    let _alive = alive;
    keeper.ready();
    shared.has_begun.store(true, Ordering::SeqCst);
    if shared.bell.is_stopped() {
        return;
    }
    let now = Instant::now();
    let round = Round {
        ask: (setup.means == Means::Notices).then_some(ask),
        program: setup.executable.and_then(Program::at),
        rhythm: Rhythm::new(now + setup.first_look),
        sweep: now + SWEEP,
        sweeps_to_retry: 0,
        every: None,
        wanted: Vec::new(),
        roots: Roots::default(),
        interest: Interest::default(),
        notices: None,
        keeper,
        shared,
    };
    round.go();
}

/// The watching, from its beginning to its end.
struct Round {
    keeper: Box<dyn Keeper>,
    shared: Arc<Shared>,
    /// `None` if the system is not to be asked.
    ask: Option<Ask>,
    notices: Option<Box<dyn Notices>>,
    /// The roots that the sources have named.
    wanted: Vec<PathBuf>,
    roots: Roots,
    interest: Interest,
    rhythm: Rhythm,
    /// How often sources are looked at that have no folders to watch.
    every: Option<Duration>,
    /// When folders and program are looked over again.
    sweep: Instant,
    /// How many sweeps until the system is asked again.
    sweeps_to_retry: u32,
    program: Option<Program>,
}

impl Round {
    fn go(mut self) {
        self.arrange();
        loop {
            let rung = self.shared.bell.wait(self.rhythm.next().min(self.sweep));
            if rung.stop {
                return;
            }
            if let Some(reason) = rung.refused {
                self.fall_back(reason);
            }
            let now = Instant::now();
            if rung.arranged {
                self.rhythm.arranged(now);
            } else if rung.changed {
                self.rhythm.changed(now);
            }
            let is_sweep = self.sweep <= now;
            if rung.arranged || is_sweep {
                self.look_over(is_sweep);
            }
            let is_due = self.rhythm.next() <= now;
            if (is_due || is_sweep) && self.is_replaced() {
                return;
            }
            if is_due && self.pass() == End::Resigned {
                return;
            }
        }
    }

    /// Sees which folders there are to watch now.
    fn look_over(&mut self, is_sweep: bool) {
        if is_sweep {
            self.sweep = Instant::now() + SWEEP;
            self.sweeps_to_retry = self.sweeps_to_retry.saturating_sub(1);
        }
        self.arrange();
    }

    /// Watches the folders that there are to watch now, by the best means that there is.
    fn arrange(&mut self) {
        let watches = match catch_unwind(AssertUnwindSafe(|| self.keeper.watches())) {
            Ok(watches) => watches,
            Err(panic) => return self.failed(said(&*panic)),
        };
        let mut wanted = Vec::new();
        self.every = None;
        for watch in watches {
            match watch {
                Watch::Paths(mut paths) => wanted.append(&mut paths),
                Watch::Every(every) => {
                    self.every = Some(self.every.map_or(every, |it| it.min(every)));
                }
                Watch::Never => {}
            }
        }
        wanted.sort();
        wanted.dedup();
        if self.wanted != wanted {
            self.rhythm.arranged(Instant::now());
            self.wanted.clone_from(&wanted);
        }
        let mode = match self.hold(&wanted) {
            Ok(()) => WatchMode::Notices,
            Err(reason) => return self.fall_back(reason),
        };
        self.enter(mode);
    }

    /// Watches `wanted` by notices. The reason if that is not possible.
    fn hold(&mut self, wanted: &[PathBuf]) -> Result<(), String> {
        let Some(ask) = &mut self.ask else {
            return Err("it was asked to".to_owned());
        };
        if self.notices.is_none() {
            if 0 < self.sweeps_to_retry
                && let WatchMode::Polling(reason) = &self.shared.state().mode
            {
                return Err(reason.clone());
            }
            let notices = ask(Arc::clone(&self.shared.bell), self.interest.clone());
            self.notices = Some(notices.map_err(|it| match it {
                Refusal::Gone => "the system gives no notices".to_owned(),
                Refusal::Refused(reason) => reason,
            })?);
            self.roots = Roots::default();
        }
        self.interest.set(wanted);
        match &mut self.notices {
            Some(notices) => self.roots.hold(wanted, &mut **notices),
            None => Ok(()),
        }
    }

    /// Looks at intervals from now on. What the system still tells is not waited for: its watches
    /// are given back.
    fn fall_back(&mut self, reason: String) {
        self.notices = None;
        self.roots = Roots::default();
        if self.sweeps_to_retry == 0 {
            self.sweeps_to_retry = SWEEPS_TO_RETRY;
        }
        self.enter(WatchMode::Polling(reason));
    }

    fn enter(&mut self, mode: WatchMode) {
        self.rhythm.look_every(self.interval(&mode), Instant::now());
        let mut state = self.shared.state();
        if state.mode == mode {
            return;
        }
        if matches!(mode, WatchMode::Polling(_)) && !matches!(state.mode, WatchMode::Polling(_)) {
            state.n_fallbacks += 1;
        }
        state.mode = mode;
        drop(state);
        self.tell();
    }

    fn interval(&self, mode: &WatchMode) -> Option<Every> {
        match (mode, self.every) {
            (WatchMode::Polling(_), _) => Some(Every::Adapted),
            (_, Some(every)) => Some(Every::Fixed(every)),
            (_, None) => None,
        }
    }

    fn is_replaced(&mut self) -> bool {
        let is_replaced = self.program.as_ref().is_some_and(Program::is_replaced);
        if is_replaced {
            self.enter(WatchMode::Resigned(Resignation::ProgramReplaced));
        }
        is_replaced
    }

    fn pass(&mut self) -> End {
        let began = Instant::now();
        let bell = Arc::clone(&self.shared.bell);
        let pass = || self.keeper.pass(&|| bell.is_stopped());
        let outcome = catch_unwind(AssertUnwindSafe(pass))
            .unwrap_or_else(|panic| Outcome::Failed(said(&*panic)));
        let mode = self.shared.state().mode.clone();
        self.rhythm.passed(&outcome, began, Instant::now(), self.interval(&mode));
        let mut state = self.shared.state();
        state.n_passes += 1;
        match outcome {
            Outcome::Took | Outcome::TookPart => state.n_taken += 1,
            Outcome::Nothing => {}
            Outcome::Busy => state.n_busy += 1,
            Outcome::Failed(reason) => {
                drop(state);
                self.failed(reason);
            }
            Outcome::Resigned(resignation) => {
                drop(state);
                self.enter(WatchMode::Resigned(resignation));
                return End::Resigned;
            }
        }
        End::NotYet
    }

    fn failed(&mut self, reason: String) {
        let mut state = self.shared.state();
        state.n_failed += 1;
        state.last_error = Some(reason);
        drop(state);
        self.tell();
    }

    fn tell(&mut self) {
        let state = self.shared.state().clone();
        // Whoever panics at hearing it has been told.
        let _ = catch_unwind(AssertUnwindSafe(|| self.keeper.told(&state)));
    }
}

/// Whether the watching is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    Resigned,
}

/// What was said at a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.as_deref().unwrap_or("without a word"))
}

#[cfg(test)]
mod tests;
