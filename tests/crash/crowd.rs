//! Many processes on one store, none of them disturbed: every answer is right, and nobody is told
//! that somebody else is busy.
#![expect(clippy::print_stderr, reason = "how long answers took is told, and judged elsewhere")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    chance::{any_seed, parameter},
    compare,
    fleet::Berth,
    limits::{CROWD, CROWD_TIME},
    machine::{Machine, Place},
    mcp::{Answer, Server},
    snapshot::Snapshot,
    transcript::SUBJECTS,
    worker::lock,
    world::{Size, World},
};

const SIZE: Size = Size { claude: 60, codex: 30, records: 20, long: 1, long_records: 2_200 };

/// Between two calls of one client.
const PACE: Duration = Duration::from_millis(200);

/// Between two records that agents write: 20 a second.
const WRITING_PACE: Duration = Duration::from_millis(50);

/// What all of the crowd share.
struct Crowd<'a> {
    place: Place<'a>,
    world: Mutex<World>,
    /// Sessions that were handed over before.
    shared: Vec<(&'static str, String)>,
    is_over: AtomicBool,
    faults: Mutex<Vec<String>>,
    took: Mutex<BTreeMap<String, Vec<Duration>>>,
}

#[test]
fn a_crowd_on_one_store_is_answered_without_an_error() {
    let seed = parameter("AI_HIST_CROWD_SEED", any_seed());
    let n_processes = parameter("AI_HIST_CROWD", CROWD);
    let seconds = parameter("AI_HIST_CROWD_SECONDS", CROWD_TIME.as_secs());
    eprintln!("AI_HIST_CROWD_SEED={seed} AI_HIST_CROWD={n_processes}");
    let machine = Machine::new();
    let place = machine.place("crowded");
    let mut rng = Rng::with_seed(seed);
    let world = World::new(&machine.home(), SIZE, rng.u64(..));
    place.sync();
    let some = world.transcripts.iter().step_by(20);
    let shared: Vec<_> = some.map(|it| (it.agent.source(), it.id.clone())).collect();
    for (source, id) in &shared {
        place.json(&["handoff", "create", "--session", &format!("{source}:{id}"), "go on"]);
    }
    let crowd = Crowd {
        place,
        world: Mutex::new(world),
        shared,
        is_over: AtomicBool::new(false),
        faults: Mutex::default(),
        took: Mutex::default(),
    };
    thread::scope(|scope| {
        for i in 0..n_processes {
            let (crowd, rng) = (&crowd, rng.fork());
            scope.spawn(move || if i % 2 == 0 { crowd.ask(rng) } else { crowd.run(rng) });
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(seconds) {
            lock(&crowd.world).append_anywhere(1);
            thread::sleep(WRITING_PACE);
        }
        crowd.is_over.store(true, Ordering::Relaxed);
    });
    for (what, took) in lock(&crowd.took).iter_mut() {
        took.sort_unstable();
        let part = |of: usize| took[(took.len() - 1) * of / 100];
        eprintln!("{what:20} {:5} times, p50 {:.0?}, p99 {:.0?}", took.len(), part(50), part(99));
    }
    let mut faults = crowd.faults.into_inner().expect("no thread failed");
    place.sync();
    let reference = machine.place("reference");
    reference.sync();
    let world = crowd.world.into_inner().expect("no thread failed");
    let verdict = compare::verdict(&Snapshot::of(place), &Snapshot::of(reference), &world);
    faults.extend(verdict.faults);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), compare::shown(&faults));
}

impl Crowd<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Is a client of a server.
    fn ask(&self, mut rng: Rng) {
        let berth = Arc::new(Berth::new("server".to_owned()));
        let mut server = Server::start(self.place, &berth).expect("starts");
        self.take("initialize", Instant::now(), server.greet());
        while !self.is_over() {
            let begun = Instant::now();
            let (tool, arguments) = self.question(&mut rng);
            let answer = server.call(tool, &arguments);
            let is_gone = matches!(answer, Answer::Gone(_));
            self.take(tool, begun, answer);
            if is_gone {
                return;
            }
            thread::sleep(PACE.saturating_sub(begun.elapsed()));
        }
        let ended = server.end();
        self.check("mcp", ended.status.success(), &ended.errors);
    }

    fn question(&self, rng: &mut Rng) -> (&'static str, Value) {
        let (source, session_id) = lock(&self.world).hot(rng);
        let mut session = json!({"source": source, "session_id": session_id});
        match rng.u8(..6) {
            0 | 1 => ("search_history", json!({"query": SUBJECTS[rng.usize(..SUBJECTS.len())]})),
            2 => ("list_sessions", json!({})),
            3 => ("get_session_events", session),
            4 => {
                session["intent"] = json!("go on with it");
                ("create_handoff", session)
            }
            _ => {
                let (source, session_id) = &self.shared[rng.usize(..self.shared.len())];
                ("resume_handoff", json!({"source": source, "session_id": session_id}))
            }
        }
    }

    fn take(&self, what: &str, begun: Instant, answer: Answer) {
        lock(&self.took).entry(what.to_owned()).or_default().push(begun.elapsed());
        match answer {
            Answer::Given(value) => self.check(what, true, &value.to_string()),
            Answer::Refused(error) => self.check(what, false, &error.to_string()),
            Answer::Gone(ended) => self.check(what, false, &format!("{ended:?}")),
        }
    }

    /// Runs one command after the other.
    fn run(&self, mut rng: Rng) {
        let berth = Berth::new("command".to_owned());
        while !self.is_over() {
            let subject = SUBJECTS[rng.usize(..SUBJECTS.len())];
            let args: &[&str] = match rng.u8(..3) {
                0 => &["search", subject],
                1 => &["sessions"],
                _ => &["sync"],
            };
            let begun = Instant::now();
            let mut command = self.place.command(args);
            let (ended, said) = berth.run(command.arg("--json")).expect("runs");
            let what = format!("ai-hist {}", args[0]);
            lock(&self.took).entry(what.clone()).or_default().push(begun.elapsed());
            self.check(&what, ended.status.success(), &format!("{said} {}", ended.errors));
        }
    }

    /// An answer is right, and says nothing of others.
    fn check(&self, what: &str, is_right: bool, said: &str) {
        if !is_right || ["busy", "locked"].iter().any(|it| said.to_lowercase().contains(it)) {
            lock(&self.faults).push(format!("{what}: {said}"));
        }
    }
}
