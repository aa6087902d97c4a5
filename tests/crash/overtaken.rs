//! Two passes over one transcript, of which the one that read less is stored first.
//!
//! ```text
//! one      reads to 2 ············ stores 2
//! agent            writes 3
//! other                    reads to 3 ······ stores nothing: its stretch is not the next any more
//! ```
//!
//! The other one must not say that the transcript is read to its end: nobody would look again.

use std::{
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use rustix::process::Signal;

use crate::{
    fleet::Berth,
    leader::LeaderLock,
    limits::ANSWER_DEADLINE,
    machine::{Machine, Place},
    snapshot::Snapshot,
    world::{Size, World},
};

const SIZE: Size = Size { claude: 1, codex: 0, records: 2, long: 0, long_records: 0 };

/// A process that works, and the thread that waits for it.
struct Running {
    berth: Arc<Berth>,
    waiter: thread::JoinHandle<()>,
}

impl Running {
    fn start(place: Place<'_>, args: &[&str]) -> Self {
        let berth = Arc::new(Berth::new(args[0].to_owned()));
        let mut command = place.command(args);
        let own = Arc::clone(&berth);
        let waiter = thread::spawn(move || {
            let (ended, _) = own.run(&mut command).expect("runs");
            assert!(ended.status.success(), "{ended:?}");
        });
        Self { berth, waiter }
    }

    /// Waits until it is at a place where it can only wait for the store: `is_there` for a while,
    /// and not only in passing.
    fn waits(&self, is_there: impl Fn(i32) -> bool) {
        let begun = Instant::now();
        let mut n_seen = 0;
        while n_seen < 100 {
            let is_seen = self.berth.pid().is_some_and(&is_there);
            n_seen = if is_seen { n_seen + 1 } else { 0 };
            assert!(begun.elapsed() < ANSWER_DEADLINE, "`{}` never got there", self.berth.name);
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = self.berth.pid().expect("it runs");
        assert!(self.berth.signal(pid, signal));
    }
}

fn has_open(pid: i32, path: &Path) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    files.flatten().any(|it| fs::read_link(it.path()).is_ok_and(|it| it == path))
}

#[test]
fn a_pass_that_was_overtaken_hides_nothing_that_it_did_not_store() {
    let machine = Machine::new();
    let mut world = World::new(&machine.home(), SIZE, 1);
    let place = machine.place("state");
    place.sync();
    let name = world.transcripts[0].name();
    let path = fs::canonicalize(&world.transcripts[0].path).expect("is there");
    let db = Connection::open(place.state().join("store.db")).expect("opens");

    // While nobody can write, each reads what there is, and waits.
    db.execute_batch("BEGIN IMMEDIATE").expect("locks");
    world.append_anywhere(1);
    let one = Running::start(place, &["events", &name]);
    // It reads a session with the transcript open until all is stored.
    one.waits(|pid| has_open(pid, &path));
    world.append_anywhere(1);
    let other = Running::start(place, &["sync"]);
    let lock = LeaderLock::of(&place.state());
    other.waits(|pid| lock.holder() == Some(pid));
    other.signal(Signal::STOP);
    db.execute_batch("ROLLBACK").expect("unlocks");
    one.waiter.join().expect("stores what it read");
    other.signal(Signal::CONT);
    other.waiter.join().expect("finds that it was overtaken");

    place.sync();
    let held = Snapshot::of_some(place, &[]).sessions[&name].tokens();
    let wanted = world.transcripts[0].records.iter().map(|it| it.token).collect();
    assert_eq!(held, wanted, "what was written last is nowhere");
}
