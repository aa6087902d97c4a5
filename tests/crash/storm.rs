//! Eight processes on one store, while transcripts change under them, and something kills and
//! stops them.
#![expect(clippy::print_stderr, reason = "the figures of a run, and the seed of one that fails")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use rustix::process::Signal;

use crate::{
    answers,
    chance::{any_seed, parameter},
    compare, database,
    fleet::Berth,
    leader::{LeaderLock, Terms},
    limits::{ANSWER_DEADLINE, KILLS},
    machine::{Machine, Place, text},
    nemesis::{Deeds, Nemesis},
    snapshot::Snapshot,
    worker::{Site, Task, Worker, lock},
    world::{Size, World},
};

/// What the processes do.
const TASKS: [Task; 8] = [
    Task::Sync,
    Task::Serve,
    Task::Search,
    Task::Events,
    Task::Sync,
    Task::Serve,
    Task::Sessions,
    Task::Serve,
];

const SIZE: Size = Size { claude: 160, codex: 80, records: 10, long: 4, long_records: 2_200 };

#[test]
fn nothing_is_lost_or_doubled_when_processes_are_killed_at_any_instant() {
    let seed = parameter("AI_HIST_STORM_SEED", any_seed());
    let n_kills = parameter("AI_HIST_STORM_KILLS", KILLS);
    eprintln!("AI_HIST_STORM_SEED={seed} AI_HIST_STORM_KILLS={n_kills}");
    let machine = Machine::new();
    let place = machine.place("disturbed");
    let world = Mutex::new(World::new(&machine.home(), SIZE, seed));
    let begun = Instant::now();
    let (deeds, terms, mut faults) = storm(place, &world, n_kills, seed);
    let raged = begun.elapsed();
    let world = world.into_inner().expect("no thread failed");
    faults.extend(terms.faults);

    place.sync();
    let again = place.sync();
    assert_eq!(again["n_read"], 0, "a sync leaves nothing to be read: {again}");
    let reference = machine.place("reference");
    reference.sync();
    let (disturbed, reference) = (Snapshot::of(place), Snapshot::of(reference));
    let verdict = compare::verdict(&disturbed, &reference, &world);
    eprintln!(
        "{} kills, {} of who led; {} stops, {} of who led; {} leader terms; {raged:.0?}",
        deeds.kills, deeds.leader_kills, deeds.stops, deeds.leader_stops, terms.n_terms,
    );
    eprintln!(
        "{} records in {} transcripts: {} acknowledged by {} syncs, {} of earlier versions kept; \
         {} lost, {} doubled; {:.0?} in all",
        world.n_records(),
        world.transcripts.len(),
        verdict.n_acknowledged,
        world.n_acknowledging(),
        verdict.n_earlier,
        verdict.n_lost,
        verdict.n_doubled,
        begun.elapsed(),
    );
    eprintln!("{:?}", world.changes);
    faults.extend(verdict.faults);
    faults.extend(database::faults_below(machine.folder()));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), compare::shown(&faults));

    assert!(n_kills <= deeds.leader_kills * 3, "too few of the killed led: {deeds:?}");
    assert!(0 < verdict.n_acknowledged, "no sync came to its end, so nothing was checked");
    hand_over_some(place, &world);
}

/// What is handed over after the storm is whole.
fn hand_over_some(place: Place<'_>, world: &World) {
    for transcript in world.transcripts.iter().filter(|it| !it.is_gone).step_by(40) {
        let listed = place.run(&["events", &transcript.name()]);
        let n_events = text(&listed.stdout).lines().count();
        let n_handed_over = answers::handed_over(place, transcript.agent.source(), &transcript.id);
        assert_eq!(n_handed_over, n_events, "{}", transcript.name());
    }
}

/// Lets it rage until `n_kills` processes are dead and all others have ended.
fn storm(
    place: Place<'_>,
    world: &Mutex<World>,
    n_kills: usize,
    seed: u64,
) -> (Deeds, Terms, Vec<String>) {
    let mut rng = Rng::with_seed(seed);
    let faults = Mutex::new(Vec::new());
    let answers = Mutex::new(BTreeMap::new());
    let (is_over, is_watched) = (AtomicBool::new(false), AtomicBool::new(false));
    let site = Site { place, world, is_over: &is_over, faults: &faults, answers: &answers };
    let berths: Vec<Arc<Berth>> = TASKS
        .iter()
        .enumerate()
        .map(|(i, task)| Arc::new(Berth::new(format!("{i} {task:?}"))))
        .collect();
    let lock_of_leader = LeaderLock::of(&place.state());
    let nemesis = Nemesis { berths: berths.clone(), lock: lock_of_leader.clone(), rng: rng.fork() };
    let (deeds, terms) = thread::scope(|scope| {
        let watch = scope.spawn(|| lock_of_leader.watch(&is_watched));
        let (ended, ends) = mpsc::channel();
        for (task, berth) in TASKS.into_iter().zip(&berths) {
            let worker = Worker { site: &site, berth: Arc::clone(berth), task, rng: rng.fork() };
            let ended = ended.clone();
            scope.spawn(move || {
                worker.work();
                let _ = ended.send(());
            });
        }
        let writer = rng.fork();
        scope.spawn(|| change(world, &is_over, writer));
        let deeds = nemesis.rage(n_kills);
        is_over.store(true, Ordering::Relaxed);
        for _ in TASKS {
            if ends.recv_timeout(ANSWER_DEADLINE).is_err() {
                end_all(&berths, &faults);
            }
        }
        is_watched.store(true, Ordering::Relaxed);
        (deeds, watch.join().expect("the watch does not fail"))
    });
    eprintln!("{:?}", lock(&answers));
    (deeds, terms, faults.into_inner().expect("no thread failed"))
}

/// Changes the home until it is over.
fn change(world: &Mutex<World>, is_over: &AtomicBool, mut rng: Rng) {
    while !is_over.load(Ordering::Relaxed) {
        lock(world).change();
        thread::sleep(Duration::from_millis(rng.u64(2..25)));
    }
}

/// Ends the processes that do not end by themselves.
fn end_all(berths: &[Arc<Berth>], faults: &Mutex<Vec<String>>) {
    for berth in berths {
        if let Some(pid) = berth.pid() {
            lock(faults).push(format!("`{}` did not end", berth.name));
            berth.signal(pid, Signal::KILL);
        }
    }
}
