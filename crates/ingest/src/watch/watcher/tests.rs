//! The thread from outside: what its keeper hears.

use std::{
    collections::VecDeque,
    fs,
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
};

use super::*;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a keeper was asked or told.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Heard {
    Pass,
    Mode(WatchMode),
    Failure(String),
}

struct Listening {
    roots: Vec<PathBuf>,
    outcomes: VecDeque<fn() -> Outcome>,
    heard: Sender<Heard>,
    mode: WatchMode,
    gate: Option<Receiver<()>>,
}

impl Keeper for Listening {
    fn ready(&mut self) {
        if let Some(gate) = &self.gate {
            let _ = gate.recv();
        }
    }

    fn watches(&mut self) -> Vec<Watch> {
        vec![Watch::Paths(self.roots.clone()), Watch::Never]
    }

    fn pass(&mut self, _is_over: &dyn Fn() -> bool) -> Outcome {
        let _ = self.heard.send(Heard::Pass);
        self.outcomes.pop_front().map_or(Outcome::Nothing, |it| it())
    }

    fn told(&mut self, state: &WatchState) {
        let heard = if state.mode == self.mode {
            Heard::Failure(state.last_error.clone().unwrap_or_default())
        } else {
            self.mode = state.mode.clone();
            Heard::Mode(state.mode.clone())
        };
        let _ = self.heard.send(heard);
    }
}

struct Scene {
    watcher: Option<Watcher>,
    heard: Receiver<Heard>,
}

impl Scene {
    /// Watches `root`; the passes have these outcomes, and later ones find nothing.
    fn of(root: &Path, outcomes: &[fn() -> Outcome]) -> Self {
        let ask: Ask = Box::new(|bell, interest| Ok(Box::new(System::start(bell, interest)?)));
        Self::with(root, outcomes, ask, None, None)
    }

    fn with(
        root: &Path,
        outcomes: &[fn() -> Outcome],
        ask: Ask,
        gate: Option<Receiver<()>>,
        executable: Option<PathBuf>,
    ) -> Self {
        let (sender, heard) = channel();
        let keeper = Listening {
            roots: vec![root.to_owned()],
            outcomes: outcomes.iter().copied().collect(),
            heard: sender,
            mode: WatchMode::Waiting,
            gate,
        };
        let setup = WatchSetup { means: Means::Notices, first_look: Duration::ZERO, executable };
        let watcher = Watcher::start_with(setup, Box::new(keeper), ask).expect("starts");
        Self { watcher: Some(watcher), heard }
    }

    fn next(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("something happens")
    }

    /// Whether the keeper is gone, and with it the thread's work, and was told nothing more.
    fn is_over(&self) -> bool {
        self.heard.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected)
    }

    fn state(&self) -> WatchState {
        self.watcher.as_ref().expect("is there").state()
    }
}

#[test]
fn a_line_in_a_root_that_comes_later_is_passed_over_again() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let root = dir.path().join("agent/sessions");
    let scene = Scene::of(&root, &[]);
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass, "the first look");
    fs::create_dir_all(&root).expect("makes folders");
    assert_eq!(scene.next(), Heard::Pass, "the root has come");
    fs::write(root.join("a.jsonl"), "1\n").expect("writes");
    assert_eq!(scene.next(), Heard::Pass);
    assert_eq!(scene.state().n_fallbacks, 0);
}

#[test]
fn a_system_that_tells_nothing_is_asked_at_intervals() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let ask: Ask = Box::new(|_, _| Err(Refusal::Refused("no watches left".to_owned())));
    let scene = Scene::with(dir.path(), &[], ask, None, None);
    let polling = WatchMode::Polling("no watches left".to_owned());
    assert_eq!(scene.next(), Heard::Mode(polling.clone()));
    for _ in 0..2 {
        assert_eq!(scene.next(), Heard::Pass);
    }
    let state = scene.state();
    assert_eq!((state.mode, state.n_fallbacks), (polling, 1));
}

#[test]
fn watches_that_run_out_later_are_given_back() {
    struct Scarce {
        _held: Arc<()>,
    }

    impl Notices for Scarce {
        fn watch(&mut self, _: &Path, _: super::super::notices::Depth) -> Result<(), Refusal> {
            Ok(())
        }

        fn unwatch(&mut self, _: &Path) {}
    }

    let dir = tempfile::tempdir().expect("makes a folder");
    let held = Arc::new(());
    let theirs = Arc::clone(&held);
    let (send_bell, bells) = channel();
    let ask: Ask = Box::new(move |bell, _| {
        let _ = send_bell.send(bell);
        Ok(Box::new(Scarce { _held: Arc::clone(&theirs) }))
    });
    let scene = Scene::with(dir.path(), &[], ask, None, None);
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass);
    let bell = bells.recv_timeout(PATIENCE).expect("was asked");
    assert_eq!(Arc::strong_count(&held), 3);
    bell.ring(|it| it.refused = Some("full".to_owned()));
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Polling("full".to_owned())));
    assert_eq!(Arc::strong_count(&held), 2, "only the one who asks holds it still");
    assert_eq!(scene.next(), Heard::Pass);
}

#[test]
fn a_pass_that_panics_or_fails_is_counted_and_tried_again() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let outcomes: &[fn() -> Outcome] =
        &[|| panic!("out of luck"), || Outcome::Failed("no disk".to_owned()), || Outcome::Took];
    let scene = Scene::of(dir.path(), outcomes);
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass);
    assert_eq!(scene.next(), Heard::Failure("panicked: out of luck".to_owned()));
    assert_eq!(scene.next(), Heard::Pass);
    assert_eq!(scene.next(), Heard::Failure("no disk".to_owned()));
    assert_eq!(scene.next(), Heard::Pass);
    let state = scene.state();
    assert_eq!((state.n_failed, state.last_error.as_deref()), (2, Some("no disk")));
}

#[test]
fn a_newer_store_ends_the_watching() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let outcomes: &[fn() -> Outcome] = &[|| Outcome::Resigned(Resignation::StoreTooNew)];
    let scene = Scene::of(dir.path(), outcomes);
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass);
    let resigned = WatchMode::Resigned(Resignation::StoreTooNew);
    assert_eq!(scene.next(), Heard::Mode(resigned.clone()));
    assert!(scene.is_over());
    assert_eq!(scene.state().mode, resigned, "and what it said stays");
}

#[cfg(unix)]
#[test]
fn a_replaced_program_ends_the_watching_before_another_pass() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let (root, program) = (dir.path().join("sessions"), dir.path().join("program"));
    fs::create_dir(&root).expect("makes a folder");
    fs::write(&program, "1").expect("writes");
    let ask: Ask = Box::new(|bell, interest| Ok(Box::new(System::start(bell, interest)?)));
    let scene = Scene::with(&root, &[], ask, None, Some(program.clone()));
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass);
    fs::write(dir.path().join("new"), "2").expect("writes");
    fs::rename(dir.path().join("new"), &program).expect("renames");
    fs::write(root.join("a.jsonl"), "1\n").expect("writes");
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Resigned(Resignation::ProgramReplaced)));
}

#[test]
fn dropped_it_is_over() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let mut scene = Scene::of(dir.path(), &[]);
    assert_eq!(scene.next(), Heard::Mode(WatchMode::Notices));
    assert_eq!(scene.next(), Heard::Pass);
    scene.watcher = None;
    assert!(scene.is_over());
}

#[test]
fn dropped_before_it_began_it_keeps_nobody_waiting() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let (open, gate) = channel();
    let ask: Ask = Box::new(|bell, interest| Ok(Box::new(System::start(bell, interest)?)));
    let mut scene = Scene::with(dir.path(), &[], ask, Some(gate), None);
    scene.watcher = None;
    drop(open);
    assert!(scene.is_over(), "it ends without a pass");
}
