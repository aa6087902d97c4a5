//! What wakes a watcher: changes, and the end. Rung by other threads, as often as they like.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Instant,
};

/// What has been rung since it was last heard. Each kind at most once: a thousand changes are one
/// reason to look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rung {
    /// Something changed.
    pub(super) changed: bool,
    /// Folders came, went or moved, or changes were lost: what is watched has to be looked over.
    pub(super) arranged: bool,
    /// The system can tell no more, or not of everything.
    pub(super) refused: Option<String>,
    /// This is the end.
    pub(super) stop: bool,
}

/// The bell.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<Rung>,
    is_rung: Condvar,
}

impl Bell {
    /// Rings.
    pub(super) fn ring(&self, note: impl FnOnce(&mut Rung)) {
        note(&mut self.rung.lock().unwrap_or_else(PoisonError::into_inner));
        self.is_rung.notify_all();
    }

    /// Waits until it is rung, at most until `until`. Takes what was rung; the end stays rung.
    pub(super) fn wait(&self, until: Instant) -> Rung {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while *rung == Rung::default() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.is_rung.wait_timeout(rung, left);
            rung = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let stop = rung.stop;
        std::mem::replace(&mut *rung, Rung { stop, ..Rung::default() })
    }

    /// Whether the end was rung.
    pub(super) fn is_stopped(&self) -> bool {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner).stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rung_is_heard_once_and_the_end_always() {
        let bell = Bell::default();
        let now = Instant::now();
        assert_eq!(bell.wait(now), Rung::default());
        bell.ring(|it| it.changed = true);
        bell.ring(|it| it.arranged = true);
        assert_eq!(bell.wait(now), Rung { changed: true, arranged: true, ..Rung::default() });
        assert_eq!(bell.wait(now), Rung::default());
        bell.ring(|it| it.stop = true);
        assert!(bell.wait(now).stop && bell.wait(now).stop && bell.is_stopped());
    }
}
