//! Which records were copied from the session that this one comes from.
//!
//! Forks until 0.146, and sub-agents that know what their parent knows, begin with its records,
//! written anew with the time of the copy. They are kept, since the session begins with them, but
//! they are the parent's: they cost nothing here and were said there.
//!
//! The first rule that applies decides:
//!
//! | what tells | where it is |
//! |---|---|
//! | the ordinal at which its own records begin | in the file's own head, from 0.147 |
//! | a turn whose id is younger than the session's is its own, and all after it | after the head of another session |
//! | copies are written in one go, so they end with the first pause | after the head of another session |
//!
//! Where none applies every record is the session's own.

use std::fmt::Write as _;

use ai_hist_connector::model::Timestamp;

use crate::limits::MAX_COPY_PAUSE_MS;

/// Which of the records to come are copies.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inherited {
    /// None of them.
    #[default]
    Nothing,
    /// Those whose ordinal is less.
    Before(u64),
    /// Those of up to this time, in milliseconds.
    Until(i64),
}

impl Inherited {
    /// What [`Inherited::write`] wrote.
    pub(super) fn parse(words: &str) -> Option<Self> {
        match words.strip_prefix('o') {
            Some(ordinal) => Some(Self::Before(ordinal.parse().ok()?)),
            None if words.is_empty() => Some(Self::Nothing),
            None => Some(Self::Until(words.parse().ok()?)),
        }
    }

    /// Appends it to a cursor's words.
    pub(super) fn write(self, words: &mut String) {
        let _ = match self {
            Self::Nothing => Ok(()),
            Self::Before(ordinal) => write!(words, "o{ordinal}"),
            Self::Until(until) => write!(words, "{until}"),
        };
    }

    /// Takes note that the file's own head says where its own records begin.
    pub(super) const fn end_at_ordinal(&mut self, ordinal: u64) {
        *self = Self::Before(ordinal);
    }

    /// Takes note that the head of another session's history has been read.
    pub(super) fn begin(&mut self, at: Option<Timestamp>) {
        if matches!(self, Self::Before(_)) {
            return;
        }
        *self = match at {
            Some(at) => Self::Until(at.0.saturating_add(MAX_COPY_PAUSE_MS)),
            None => Self::Nothing,
        };
    }

    /// Takes note that a turn begins. Whether it is the session's own and the copies have ended.
    ///
    /// Sub-agents begin to work at once, so the time alone does not tell their first turn from
    /// the copied ones. The names do: they are UUIDs of version 7, which begin with the time at
    /// which they were made.
    pub(super) fn begin_turn(&mut self, turn: &str, session: &str) -> bool {
        if matches!(self, Self::Until(_))
            && let (Some(turn), Some(session)) = (made(turn), made(session))
            && session <= turn
        {
            *self = Self::Nothing;
        }
        *self == Self::Nothing
    }

    /// Whether the next record, which has this ordinal and this time, is a copy.
    pub(super) fn covers(&mut self, ordinal: Option<u64>, at: Option<Timestamp>) -> bool {
        let is_copy = match (*self, ordinal, at) {
            (Self::Before(first_own), Some(ordinal), _) => ordinal < first_own,
            (Self::Until(until), _, Some(at)) => at.0 <= until,
            // A record that does not say is the session's own, and says nothing of the next.
            (Self::Nothing, _, _) | (Self::Before(_), None, _) | (Self::Until(_), _, None) => {
                return false;
            }
        };
        match self {
            _ if !is_copy => *self = Self::Nothing,
            Self::Until(until) => {
                let next = at.map_or(*until, |it| it.0.saturating_add(MAX_COPY_PAUSE_MS));
                *until = next.max(*until);
            }
            Self::Nothing | Self::Before(_) => {}
        }
        is_copy
    }
}

/// When a UUID of version 7 was made, as the digits that it begins with. They sort by time.
pub(super) fn made(uuid: &str) -> Option<&str> {
    let is_v7 = uuid.as_bytes().get(14) == Some(&b'7');
    uuid.get(..13).filter(|_| is_v7)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: i64 = MAX_COPY_PAUSE_MS;

    /// Which of the records with these ordinals and times are copies.
    fn copies<const N: usize>(
        mut inherited: Inherited,
        records: [(Option<u64>, Option<i64>); N],
    ) -> [bool; N] {
        records.map(|(ordinal, at)| inherited.covers(ordinal, at.map(Timestamp)))
    }

    fn after_a_head(at: Option<i64>) -> Inherited {
        let mut inherited = Inherited::default();
        inherited.begin(at.map(Timestamp));
        inherited
    }

    #[test]
    fn ordinals_decide_where_the_head_states_them() {
        let mut stated = Inherited::default();
        stated.end_at_ordinal(3);
        let records = [(Some(1), Some(0)), (None, Some(0)), (Some(2), None), (Some(3), Some(0))];
        assert_eq!(copies(stated, records), [true, false, true, false]);
        // Neither the head of another session nor a turn changes that.
        let mut both = stated;
        both.begin(Some(Timestamp(0)));
        assert!(!both.begin_turn(
            "01900000-0003-7000-8000-000000000001",
            "01900000-0002-7000-8000-000000000001"
        ));
        assert_eq!(both, stated);
        // Once its own records have begun, a strange ordinal does not bring the copies back.
        assert_eq!(copies(stated, [(Some(3), None), (Some(1), None)]), [false, false]);
    }

    #[test]
    fn copies_end_with_the_first_pause() {
        let at = |ms| (None, Some(ms));
        let slow = [at(0), at(PAUSE), at(2 * PAUSE), at(3 * PAUSE + 1), at(2 * PAUSE)];
        assert_eq!(copies(after_a_head(Some(0)), slow), [true, true, true, false, false]);
        let timeless = [(None, None), at(1), at(PAUSE + 2)];
        assert_eq!(copies(after_a_head(Some(0)), timeless), [false, true, false]);
        assert_eq!(copies(after_a_head(None), [at(0)]), [false]);
        assert_eq!(copies(Inherited::Nothing, [at(0)]), [false]);
    }

    #[test]
    fn the_first_turn_that_is_younger_than_the_session_is_its_own() {
        let session = "01900000-0002-7000-8000-000000000001";
        let table = [
            ("01900000-0001-7fff-8000-000000000002", true),
            ("01900000-0002-7000-8000-000000000003", false),
            ("01900000-0003-7000-8000-000000000004", false),
            ("ffffffff-0003-4000-8000-000000000005", true),
            ("turn-1", true),
            ("", true),
        ];
        for (turn, is_copy) in table {
            let mut inherited = after_a_head(Some(0));
            assert_eq!(inherited.begin_turn(turn, session), !is_copy, "`{turn}`");
            assert_eq!(copies(inherited, [(None, Some(20))]), [is_copy], "`{turn}`");
        }
    }

    #[test]
    fn it_comes_back_from_a_cursor() {
        for inherited in [Inherited::Nothing, Inherited::Before(7), Inherited::Until(-7)] {
            let mut words = String::new();
            inherited.write(&mut words);
            assert_eq!(Inherited::parse(&words), Some(inherited), "`{words}`");
        }
        assert_eq!(Inherited::parse("x"), None);
    }
}
