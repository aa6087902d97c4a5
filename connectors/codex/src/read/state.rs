//! What must be remembered from one record to the next, in a form that fits into the cursor.

use std::{collections::VecDeque, fmt::Write as _};

use ai_hist_connector::model::{Cursor, NativeSessionId, Span};
use xxhash_rust::xxh3::xxh3_64;

use super::{inherited::Inherited, patch::Edit};
use crate::limits::{MAX_MODEL_BYTES, MAX_PATCHES, MAX_SIGHTINGS};

/// The first word of what we add to the tail's cursor. Another one is another version's.
const VERSION: &str = "1";

const HASH_DIGITS: usize = 10;

/// What must be remembered from one record to the next.
///
/// **Invariant:** all of it, but for the text of patches, which is read again, is in the cursor.
/// So a reader that goes on from a cursor says what the first one would have said.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The session, where the file's name does not tell it.
    pub(super) unnamed_session: Option<NativeSessionId>,
    /// The model that answers.
    pub(super) model: Option<String>,
    marks: u8,
    /// Which records are copies of the parent's.
    pub(super) inherited: Inherited,
    run: Run,
    sightings: VecDeque<Sighting>,
    pub(super) patches: VecDeque<PendingPatch>,
}

/// What is either so or not.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    /// The session's working directory has been stated.
    HasCwd = 1,
    /// The file's own `session_meta`, which is its first, has been read.
    HasMeta = 2,
    /// It has been stated where the session comes from.
    HasLineage = 4,
    /// Another agent gives the session its tasks.
    IsSubAgent = 8,
    /// The person has begun this turn, in spite of that.
    IsPersonsTurn = 16,
}

/// Records with one time, which may be byte for byte the same: a fork copies its parent's history
/// within a millisecond.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    time: u32,
    n_records: u32,
}

/// A text that may come again in the other of its two forms.
#[derive(Debug, PartialEq)]
struct Sighting {
    what: Repeatable,
    form: Form,
    hash: u64,
}

/// What is written twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeatable {
    /// What the person said.
    Prompt,
    /// What the model said.
    Answer,
    /// What the model thought.
    Thought,
    /// What the model plans.
    Plan,
}

/// In which of the two forms it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As the model's API has it: `response_item`.
    Api,
    /// As the user interface has it: `event_msg`.
    Interface,
}

/// A call that edits files if it succeeds.
#[derive(Debug)]
pub(super) struct PendingPatch {
    call: u32,
    /// Where the call's record is.
    pub(super) first_byte: u64,
    /// What it would do.
    pub(super) edits: Vec<Edit>,
}

impl State {
    /// The tail's cursor and the state that `cursor` holds, if it is one of ours.
    pub(super) fn parse(cursor: &Cursor) -> Option<(Cursor, Self)> {
        let mut fields = cursor.as_str().splitn(9, '|');
        let tail = Cursor::new(fields.next()?.to_owned());
        if fields.next()? != VERSION {
            return None;
        }
        let marks = fields.next()?;
        let inherited = Inherited::parse(fields.next()?)?;
        let (time, n_records) = fields.next()?.split_once('.')?;
        let run = Run { time: parse_hex(time)?, n_records: n_records.parse().ok()? };
        let sightings = fields.next()?;
        let patches = fields.next()?;
        let session = fields.next()?;
        let model = fields.next()?;
        let state = Self {
            unnamed_session: NativeSessionId::parse(session),
            model: (!model.is_empty()).then(|| model.to_owned()),
            marks: u8::from_str_radix(marks, 16).ok()?,
            inherited,
            run,
            sightings: parse_sightings(sightings)?,
            patches: list(patches, PendingPatch::parse)?,
        };
        Some((tail, state))
    }

    /// The place after the last record, with the state there.
    pub(super) fn cursor(&self, tail: &Cursor) -> Cursor {
        let mut words = String::with_capacity(512);
        words.push_str(tail.as_str());
        let _ = write!(words, "|{VERSION}|{:x}|", self.marks);
        self.inherited.write(&mut words);
        let _ = write!(words, "|{:x}.{}|", self.run.time, self.run.n_records);
        for Sighting { what, form, hash } in &self.sightings {
            let _ = write!(words, "{}{hash:0HASH_DIGITS$x}", letter(*what, *form));
        }
        words.push('|');
        for PendingPatch { call, first_byte, .. } in &self.patches {
            let _ = write!(words, "{call:x}.{first_byte:x},");
        }
        let session = self.unnamed_session.as_ref().map_or("", NativeSessionId::as_str);
        let _ = write!(words, "|{session}|{}", self.model.as_deref().unwrap_or_default());
        Cursor::new(words)
    }

    /// Whether `mark` is set.
    pub(super) const fn is(&self, mark: Mark) -> bool {
        self.marks & mark as u8 != 0
    }

    /// Sets `mark`. Whether it is news.
    pub(super) const fn set(&mut self, mark: Mark) -> bool {
        let is_news = !self.is(mark);
        self.marks |= mark as u8;
        is_news
    }

    /// Clears `mark`.
    pub(super) const fn clear(&mut self, mark: Mark) {
        self.marks &= !(mark as u8);
    }

    /// Takes note of the model that answers from here on. Whether it is another than before.
    pub(super) fn set_model(&mut self, name: &str) -> bool {
        let name = super::words::beginning(name, MAX_MODEL_BYTES);
        if name.is_empty() || self.model.as_deref() == Some(name) {
            return false;
        }
        self.model.replace(name.to_owned()).is_some()
    }

    /// Which one of the records with the time `time` this is, from 0.
    pub(super) fn nth_of_time(&mut self, time: &str) -> u32 {
        let time = short_hash(time.as_bytes());
        self.run = match self.run {
            Run { time: same, n_records } if same == time && n_records != 0 => {
                Run { time, n_records: n_records.saturating_add(1) }
            }
            _ => Run { time, n_records: 1 },
        };
        self.run.n_records - 1
    }

    /// Whether `words` repeat what was said in the other form. If not they are remembered, for
    /// their repetition to be known.
    pub(super) fn is_repeat(&mut self, what: Repeatable, form: Form, words: &str) -> bool {
        let hash = xxh3_64(words.trim().as_bytes()) >> (64 - 4 * HASH_DIGITS);
        let other = match form {
            Form::Api => Form::Interface,
            Form::Interface => Form::Api,
        };
        let first = Sighting { what, form: other, hash };
        if let Some(at) = self.sightings.iter().position(|it| *it == first) {
            self.sightings.remove(at);
            return true;
        }
        if self.sightings.len() == MAX_SIGHTINGS {
            self.sightings.pop_front();
        }
        self.sightings.push_back(Sighting { what, form, hash });
        false
    }

    /// Remembers the edits that `call` makes if it succeeds.
    pub(super) fn expect_edits(&mut self, call: &str, span: Span, edits: Vec<Edit>) {
        if self.patches.len() == MAX_PATCHES {
            self.patches.pop_front();
        }
        let call = short_hash(call.as_bytes());
        self.patches.push_back(PendingPatch { call, first_byte: span.first_byte, edits });
    }

    /// The edits that `call` was to make, which are then forgotten.
    pub(super) fn take_edits(&mut self, call: &str) -> Vec<Edit> {
        if self.patches.is_empty() {
            return Vec::new();
        }
        let call = short_hash(call.as_bytes());
        let at = self.patches.iter().position(|it| it.call == call);
        at.and_then(|at| self.patches.remove(at)).map(|it| it.edits).unwrap_or_default()
    }
}

impl PendingPatch {
    fn parse(words: &str) -> Option<Self> {
        let (call, first_byte) = words.split_once('.')?;
        let first_byte = u64::from_str_radix(first_byte, 16).ok()?;
        Some(Self { call: parse_hex(call)?, first_byte, edits: Vec::new() })
    }
}

const LETTERS: [(char, Repeatable, Form); 8] = [
    ('u', Repeatable::Prompt, Form::Api),
    ('U', Repeatable::Prompt, Form::Interface),
    ('n', Repeatable::Answer, Form::Api),
    ('N', Repeatable::Answer, Form::Interface),
    ('t', Repeatable::Thought, Form::Api),
    ('T', Repeatable::Thought, Form::Interface),
    ('p', Repeatable::Plan, Form::Api),
    ('P', Repeatable::Plan, Form::Interface),
];

fn letter(what: Repeatable, form: Form) -> char {
    let found = LETTERS.iter().find(|it| it.1 == what && it.2 == form);
    found.map(|it| it.0).expect("every pair has a letter")
}

fn parse_sightings(words: &str) -> Option<VecDeque<Sighting>> {
    let mut sightings = VecDeque::new();
    for word in words.as_bytes().chunks(1 + HASH_DIGITS) {
        let (letter, hash) = word.split_first()?;
        let (_, what, form) = *LETTERS.iter().find(|it| it.0 == char::from(*letter))?;
        let hash = u64::from_str_radix(str::from_utf8(hash).ok()?, 16).ok()?;
        sightings.push_back(Sighting { what, form, hash });
    }
    Some(sightings)
}

fn list<T>(words: &str, parse: impl Fn(&str) -> Option<T>) -> Option<VecDeque<T>> {
    words.split_terminator(',').map(parse).collect()
}

fn parse_hex(words: &str) -> Option<u32> {
    u32::from_str_radix(words, 16).ok()
}

fn short_hash(bytes: &[u8]) -> u32 {
    (xxh3_64(bytes) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use ai_hist_connector::model::limits::MAX_CURSOR_BYTES;

    use super::*;

    /// A state with as much in it as it can hold.
    fn full() -> State {
        let mut state = State {
            unnamed_session: NativeSessionId::parse(&"s".repeat(200)),
            marks: u8::MAX,
            ..State::default()
        };
        state.inherited = Inherited::Before(u64::MAX);
        state.set_model(&"m".repeat(1000));
        for i in 0..100 {
            let words = format!("words {i}");
            state.is_repeat(Repeatable::Answer, Form::Interface, &words);
            let span = Span { first_byte: u64::MAX - i, n_bytes: 1 };
            state.expect_edits(&words, span, Vec::new());
            state.nth_of_time("2026-01-02T03:04:05.006Z");
        }
        state.run.n_records = u32::MAX;
        state
    }

    #[test]
    fn the_fullest_state_fits_into_a_cursor_and_comes_back() {
        let tail = Cursor::new(format!("{0}:{0}:{0:x}:{0:x}:{0}", u64::MAX));
        let cursor = full().cursor(&tail);
        assert!(cursor.as_str().len() <= MAX_CURSOR_BYTES, "{}", cursor.as_str().len());
        let (back, state) = State::parse(&cursor).expect("is ours");
        assert_eq!(back, tail);
        assert_eq!(state.cursor(&tail), cursor);
        let empty = State::default().cursor(&tail);
        assert_eq!(State::parse(&empty).expect("is ours").1.cursor(&tail), empty);
    }

    #[test]
    fn a_cursor_of_someone_else_is_not_understood() {
        for words in ["", "1:1:1:1", "not a cursor", "1:2:3:4|2||||||", "1:2:3:4|1|||0.0|x||"] {
            assert!(State::parse(&Cursor::new(words.to_owned())).is_none(), "`{words}`");
        }
    }

    #[test]
    fn a_text_is_a_repetition_only_in_the_other_form_and_once() {
        use Form::{Api, Interface};
        use Repeatable::{Answer, Prompt};
        let mut state = State::default();
        let mut say = |what, form, words| state.is_repeat(what, form, words);
        assert!(!say(Prompt, Api, "go on"));
        assert!(!say(Prompt, Api, "go on"), "said again");
        assert!(!say(Answer, Interface, "go on"), "said by another");
        assert!(say(Prompt, Interface, "go on\n"));
        assert!(say(Prompt, Interface, "go on"));
        assert!(!say(Prompt, Interface, "go on"));
        assert!(say(Answer, Api, "go on"));
    }

    #[test]
    fn records_of_one_time_are_counted() {
        let mut state = State::default();
        let times = ["a", "a", "a", "b", "a"];
        assert_eq!(times.map(|it| state.nth_of_time(it)), [0, 1, 2, 0, 0]);
    }

    #[test]
    fn edits_are_taken_by_their_call_and_the_oldest_are_forgotten() {
        let mut state = State::default();
        let edit = |path: &str| Edit {
            path: path.to_owned(),
            change: ai_hist_connector::model::Change::Update,
            diff: String::new(),
        };
        for i in 0..=MAX_PATCHES {
            let span = Span { first_byte: i as u64, n_bytes: 1 };
            state.expect_edits(&format!("call {i}"), span, vec![edit(&format!("{i}"))]);
        }
        assert!(state.take_edits("call 0").is_empty());
        assert_eq!(state.take_edits("call 3")[0].path, "3");
        assert!(state.take_edits("call 3").is_empty());
    }
}
