//! When the next pass is due. No clock and no thread: time is an argument.
//!
//! | what happens | the next pass |
//! |---|---|
//! | a change after quiet | at once |
//! | changes that go on | one in [`TAKE_PAUSE`] |
//! | a change that gave nothing to take in | [`LOOK_PAUSE`] apart, or ten times what a look costs |
//! | another process is at it | tried again, at doubled intervals up to [`MAX_STANDBY`] |
//! | the other process took it all | this one stands by: it answers later changes with a delay |
//! | a pass failed | tried again, at doubled intervals up to [`MAX_FAILURE_PAUSE`] |
//!
//! To stand by is never for good. The delay has an end, and the first pass that finds something the
//! other one left takes it away: the other is dead or stuck then.

use std::time::{Duration, Instant};

use super::Outcome;
use crate::limits::{
    BUSY_PAUSE, LOOK_COST_FACTOR, LOOK_PAUSE, MAX_FAILURE_PAUSE, MAX_POLL, MAX_STANDBY,
    MIN_FAILURE_PAUSE, MIN_POLL, MIN_STANDBY, POLL_COST_FACTOR, SAFETY_LOOK, SETTLE, TAKE_PAUSE,
};

/// When the next pass is due.
#[derive(Debug)]
pub(super) struct Rhythm {
    /// For what was rung.
    due: Option<Instant>,
    /// A second look, for what came about before it could be watched.
    second: Option<Instant>,
    /// For nothing that was rung: the interval's end.
    interval: Instant,
    /// No pass for a change begins before this.
    not_before: Instant,
    /// How long a change is left to another process.
    standby: Duration,
    /// How long to wait for another process that is at it; zero if none was.
    busy: Duration,
    /// How long to wait after a failure; zero after success.
    failure: Duration,
    /// How long to wait between two looks, where the system does not tell.
    poll: Duration,
}

impl Rhythm {
    /// Begins with a pass at `first`.
    pub(super) fn new(first: Instant) -> Self {
        Self {
            due: Some(first),
            second: None,
            interval: first + SAFETY_LOOK,
            not_before: first,
            standby: Duration::ZERO,
            busy: Duration::ZERO,
            failure: Duration::ZERO,
            poll: MIN_POLL,
        }
    }

    /// Something changed.
    pub(super) fn changed(&mut self, now: Instant) {
        self.wish(now + SETTLE + self.standby);
    }

    /// Folders changed, and what came into them before they were watched was not told.
    pub(super) fn arranged(&mut self, now: Instant) {
        self.changed(now);
        self.second = Some(now + TAKE_PAUSE);
    }

    /// When the next pass is due.
    pub(super) fn next(&self) -> Instant {
        let wished = [self.due, self.second].into_iter().flatten().min();
        wished.map_or(self.interval, |it| it.min(self.interval))
    }

    /// A pass that began at `began` and ended at `now` had this outcome. `every` is how often to
    /// look without being told, or `None` for seldom.
    pub(super) fn passed(
        &mut self,
        outcome: &Outcome,
        began: Instant,
        now: Instant,
        every: Option<Every>,
    ) {
        let cost = now.saturating_duration_since(began);
        self.due = None;
        self.second = self.second.filter(|it| began < *it);
        if !matches!(outcome, Outcome::Failed(_)) {
            self.failure = Duration::ZERO;
        }
        match outcome {
            Outcome::Took | Outcome::TookPart => {
                self.standby = Duration::ZERO;
                self.busy = Duration::ZERO;
                self.poll = MIN_POLL;
                self.not_before = began + TAKE_PAUSE;
                if *outcome == Outcome::TookPart {
                    self.due = Some(now);
                }
            }
            Outcome::Nothing | Outcome::Resigned(_) => {
                if !self.busy.is_zero() || !self.standby.is_zero() {
                    self.standby = grown(self.standby, MIN_STANDBY, MAX_STANDBY);
                }
                self.busy = Duration::ZERO;
                self.poll = (self.poll + self.poll / 2).min(MAX_POLL);
                self.not_before = now + LOOK_PAUSE.max(cost * LOOK_COST_FACTOR);
            }
            Outcome::Busy => {
                self.busy = grown(self.busy, BUSY_PAUSE, MAX_STANDBY);
                self.not_before = now + self.busy;
                self.due = Some(self.not_before);
            }
            Outcome::Failed(_) => {
                self.failure = grown(self.failure, MIN_FAILURE_PAUSE, MAX_FAILURE_PAUSE);
                self.not_before = now + self.failure;
                self.due = Some(self.not_before);
            }
        }
        self.interval = (now + self.interval(every, cost)).max(self.not_before);
        self.second = self.second.map(|it| it.max(self.not_before));
    }

    /// Looks at intervals from now on, as there is nobody to tell.
    pub(super) fn look_every(&mut self, every: Option<Every>, now: Instant) {
        self.interval = self.interval.min(now + self.interval(every, Duration::ZERO));
    }

    fn interval(&self, every: Option<Every>, cost: Duration) -> Duration {
        match every {
            Some(Every::Adapted) => self.poll.max(cost * POLL_COST_FACTOR),
            Some(Every::Fixed(every)) => every.max(MIN_POLL),
            None => SAFETY_LOOK,
        }
    }

    fn wish(&mut self, at: Instant) {
        let at = at.max(self.not_before);
        self.due = Some(self.due.map_or(at, |it| it.min(at)));
    }
}

/// How often to look without being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Every {
    /// More often while things change, less often while they do not.
    Adapted,
    /// As a source asks for.
    Fixed(Duration),
}

fn grown(duration: Duration, min: Duration, max: Duration) -> Duration {
    if duration.is_zero() { min } else { (duration * 2).min(max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANTLY: Duration = Duration::ZERO;

    struct Play {
        rhythm: Rhythm,
        now: Instant,
    }

    impl Play {
        /// A rhythm after its first pass, long ago.
        fn quiet() -> Self {
            let now = Instant::now();
            let mut play = Self { rhythm: Rhythm::new(now), now };
            play.pass(&Outcome::Nothing);
            play.now += Duration::from_secs(30);
            play
        }

        /// A pass when it is due; gives how long that was.
        fn pass(&mut self, outcome: &Outcome) -> Duration {
            self.pass_every(outcome, INSTANTLY, None)
        }

        fn pass_every(
            &mut self,
            outcome: &Outcome,
            cost: Duration,
            every: Option<Every>,
        ) -> Duration {
            let next = self.rhythm.next();
            let waited = next.saturating_duration_since(self.now);
            let began = self.now.max(next);
            self.now = began + cost;
            self.rhythm.passed(outcome, began, self.now, every);
            waited
        }

        fn change(&mut self) {
            self.rhythm.changed(self.now);
        }
    }

    #[test]
    fn the_first_change_is_answered_at_once_and_a_stream_once_a_second() {
        let mut play = Play::quiet();
        play.change();
        assert_eq!(play.pass(&Outcome::Took), SETTLE);
        for _ in 0..3 {
            play.change();
            assert_eq!(play.pass(&Outcome::Took), TAKE_PAUSE);
        }
        assert_eq!(play.pass(&Outcome::Nothing), SAFETY_LOOK, "and nothing without a change");
    }

    #[test]
    fn a_backlog_is_gone_on_with_at_once() {
        let mut play = Play::quiet();
        play.change();
        play.pass(&Outcome::TookPart);
        assert_eq!(play.pass(&Outcome::TookPart), INSTANTLY);
    }

    #[test]
    fn looks_in_vain_cost_a_tenth_of_the_time_at_most() {
        let mut play = Play::quiet();
        play.change();
        play.pass_every(&Outcome::Nothing, LOOK_PAUSE, None);
        play.change();
        assert_eq!(play.pass(&Outcome::Nothing), LOOK_PAUSE * LOOK_COST_FACTOR);
        play.change();
        assert_eq!(play.pass(&Outcome::Nothing), LOOK_PAUSE);
    }

    #[test]
    fn who_loses_tries_again_until_the_place_is_free_and_then_stands_by() {
        let mut play = Play::quiet();
        play.change();
        play.pass(&Outcome::Busy);
        assert_eq!(play.pass(&Outcome::Busy), BUSY_PAUSE);
        assert_eq!(play.pass(&Outcome::Busy), BUSY_PAUSE * 2);
        for _ in 0..20 {
            assert!(play.pass(&Outcome::Busy) <= MAX_STANDBY, "a stuck leader is asked for ever");
        }
        play.pass(&Outcome::Nothing);
        let mut delays = Vec::new();
        for _ in 0..20 {
            play.now += Duration::from_secs(30);
            play.change();
            delays.push(play.pass(&Outcome::Nothing));
        }
        assert_eq!(delays[0], SETTLE + MIN_STANDBY);
        assert!(delays.is_sorted());
        assert_eq!(delays[19], SETTLE + MAX_STANDBY);
        play.now += Duration::from_secs(30);
        play.change();
        play.pass(&Outcome::Took);
        play.now += Duration::from_secs(30);
        play.change();
        assert_eq!(play.pass(&Outcome::Took), SETTLE, "the other is gone: this one answers");
    }

    #[test]
    fn a_failing_pass_is_tried_again_ever_more_seldom_whatever_is_rung() {
        let mut play = Play::quiet();
        play.change();
        play.pass(&Outcome::Failed(String::new()));
        let mut pauses = Vec::new();
        for _ in 0..20 {
            play.change();
            pauses.push(play.pass(&Outcome::Failed(String::new())));
        }
        assert_eq!(pauses[0], MIN_FAILURE_PAUSE);
        assert!(pauses.is_sorted());
        assert_eq!(pauses[19], MAX_FAILURE_PAUSE);
        play.pass(&Outcome::Nothing);
        play.now += Duration::from_secs(30);
        play.change();
        assert_eq!(play.pass(&Outcome::Took), SETTLE);
    }

    #[test]
    fn a_new_folder_is_looked_at_twice() {
        let mut play = Play::quiet();
        play.rhythm.arranged(play.now);
        assert_eq!(play.pass(&Outcome::Took), SETTLE);
        assert_eq!(play.pass(&Outcome::Nothing), TAKE_PAUSE);
        assert_eq!(play.pass(&Outcome::Nothing), SAFETY_LOOK);
    }

    #[test]
    fn intervals_adapt_to_what_happens_and_to_what_a_look_costs() {
        let mut play = Play::quiet();
        let every = Some(Every::Adapted);
        play.rhythm.look_every(every, play.now);
        play.pass_every(&Outcome::Took, INSTANTLY, every);
        let mut waits = Vec::new();
        for _ in 0..20 {
            waits.push(play.pass_every(&Outcome::Nothing, INSTANTLY, every));
        }
        assert_eq!((waits[0], waits[19]), (MIN_POLL, MAX_POLL));
        assert!(waits.is_sorted());
        play.pass_every(&Outcome::Took, INSTANTLY, every);
        assert_eq!(play.pass_every(&Outcome::Nothing, INSTANTLY, every), MIN_POLL);
        let slow = MAX_POLL;
        play.pass_every(&Outcome::Nothing, slow, every);
        assert_eq!(play.pass_every(&Outcome::Took, INSTANTLY, every), slow * POLL_COST_FACTOR);
        let hourly = Some(Every::Fixed(Duration::from_hours(1)));
        play.pass_every(&Outcome::Took, INSTANTLY, hourly);
        assert_eq!(play.pass(&Outcome::Nothing), Duration::from_hours(1));
    }
}
