//! Kills and stops processes at random instants.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use rustix::process::Signal;

use crate::{
    fleet::Berth,
    leader::LeaderLock,
    limits::{LEADER_DEADLINE, LEADER_PAUSE},
};

/// What it did.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Deeds {
    pub(crate) kills: usize,
    /// Of these, how many held the leader's lock when they died.
    pub(crate) leader_kills: usize,
    pub(crate) stops: usize,
    /// Of these, how many held the leader's lock all the while.
    pub(crate) leader_stops: usize,
}

/// Kills and stops processes.
pub(crate) struct Nemesis {
    pub(crate) berths: Vec<Arc<Berth>>,
    pub(crate) lock: LeaderLock,
    pub(crate) rng: Rng,
}

/// A process that does not run on.
struct Held {
    berth: Arc<Berth>,
    pid: i32,
    leads: bool,
}

impl Nemesis {
    /// Goes on until `n_kills` processes are dead.
    pub(crate) fn rage(mut self, n_kills: usize) -> Deeds {
        let mut deeds = Deeds::default();
        while deeds.kills < n_kills {
            // A calm now and then, so that some also come to their end.
            let is_calm = self.rng.u8(..8) == 0;
            self.pause(if is_calm { 500..2_000 } else { 10..200 });
            let victim = if self.rng.bool() { self.hold_leader() } else { self.hold_any() };
            let Some(Held { berth, pid, leads }) = victim else { continue };
            let is_long = self.rng.u8(..6) == 0;
            if is_long {
                deeds.stops += 1;
                deeds.leader_stops += usize::from(leads);
                self.pause(50..900);
            }
            if is_long && self.rng.bool() {
                berth.signal(pid, Signal::CONT);
            } else if berth.signal(pid, Signal::KILL) {
                deeds.kills += 1;
                deeds.leader_kills += usize::from(leads);
            }
        }
        deeds
    }

    fn pause(&mut self, ms: std::ops::Range<u64>) {
        let ms = self.rng.u64(ms);
        thread::sleep(Duration::from_millis(ms));
    }

    /// Stops whoever leads, some time into the term.
    fn hold_leader(&mut self) -> Option<Held> {
        let begun = Instant::now();
        loop {
            if let Some(pid) = self.lock.holder() {
                self.pause(0..25);
                // Only one that is stopped and still holds the lock is sure to hold it when it
                // dies.
                if self.stop(pid) {
                    let leads = self.lock.holder() == Some(pid);
                    let berth = self.berths.iter().find(|it| it.pid() == Some(pid))?;
                    return Some(Held { berth: Arc::clone(berth), pid, leads });
                }
            }
            if LEADER_DEADLINE < begun.elapsed() {
                return self.hold_any();
            }
            thread::sleep(LEADER_PAUSE);
        }
    }

    fn hold_any(&mut self) -> Option<Held> {
        let at = self.rng.usize(..self.berths.len());
        let pid = self.berths[at].pid()?;
        let is_stopped = self.stop(pid);
        let leads = self.lock.holder() == Some(pid);
        is_stopped.then(|| Held { berth: Arc::clone(&self.berths[at]), pid, leads })
    }

    fn stop(&self, pid: i32) -> bool {
        self.berths.iter().any(|it| it.signal(pid, Signal::STOP))
    }
}
