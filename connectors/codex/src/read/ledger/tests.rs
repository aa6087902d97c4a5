//! What becomes of names and prompts when rollouts come and go.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ai_hist_connector::{
    Availability, Budget, Connector, Feed, Host, Settings, Start,
    model::{Cursor, Tally},
};

use crate::CONNECTOR;

const A: &str = "aaaaaaaa-1111-4111-8111-111111111111";
const B: &str = "bbbbbbbb-2222-4222-8222-222222222222";
const DAY: u64 = 24 * 60 * 60;
/// When the first prompt was typed.
const NOON: u64 = 1_760_000_000;

/// A home folder, and the connector that reads it.
struct Machine {
    folder: tempfile::TempDir,
    connector: Box<dyn Connector>,
}

/// What a pass over a ledger gave.
struct Told {
    start: Start,
    /// Titles and texts, in their order.
    words: Vec<String>,
    tally: Tally,
    rest: Vec<u8>,
    cursor: Option<Cursor>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("makes a folder");
        fs::create_dir_all(folder.path().join(".codex/sessions")).expect("makes a folder");
        let host = Host { home: folder.path().to_owned(), vars: [].into() };
        let availability = (CONNECTOR.configure)(&Settings::default(), &host).expect("configures");
        let Availability::Ready(connector) = availability else {
            panic!("there is a folder");
        };
        Self { folder, connector }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(".codex").join(name)
    }

    fn rollout(&self, thread: &str) -> PathBuf {
        self.path(&format!("sessions/rollout-2025-10-09T10-00-00-{thread}.jsonl"))
    }

    fn start(&self, thread: &str) {
        fs::write(self.rollout(thread), "").expect("writes");
    }

    /// Writes the names of threads.
    fn name(&self, lines: &[(&str, &str)]) {
        let line = |(thread, name): &(&str, &str)| {
            format!("{{\"id\":\"{thread}\",\"thread_name\":\"{name}\",\"updated_at\":\"x\"}}\n")
        };
        let lines: String = lines.iter().map(line).collect();
        fs::write(self.path("session_index.jsonl"), lines).expect("writes");
    }

    /// Writes what was typed, each so many seconds after the first. The last is written at once.
    fn type_in(&self, lines: &[(&str, u64, &str)]) {
        let line = |(thread, after, text): &(&str, u64, &str)| {
            let at = NOON + after;
            format!("{{\"session_id\":\"{thread}\",\"ts\":{at},\"text\":\"{text}\"}}\n")
        };
        let text: String = lines.iter().map(line).collect();
        let path = self.path("history.jsonl");
        fs::write(&path, text).expect("writes");
        let newest = lines.iter().map(|it| it.1).max().unwrap_or(0);
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON + newest);
        let file = File::options().write(true).open(&path).expect("opens");
        file.set_modified(written).expect("sets the time");
    }

    fn feed(&self, name: &str) -> Feed {
        let path = self.path(name);
        let is_it = |it: &Feed| it.place.path().map(PathBuf::as_path) == Some(Path::new(&path));
        let feeds = self.connector.discover().expect("discovers").feeds;
        feeds.into_iter().find(is_it).expect("is there")
    }

    fn read(&self, name: &str, cursor: Option<&Cursor>) -> Told {
        let feed = self.feed(name);
        let mut reader = self.connector.open(&feed, cursor).expect("opens");
        let mut told = Told {
            start: reader.start(),
            words: Vec::new(),
            tally: Tally::default(),
            rest: Vec::new(),
            cursor: cursor.cloned(),
        };
        let budget = Budget { records: 100, bytes: 100_000 };
        while let Some(batch) = reader.next_batch(budget).expect("reads") {
            let titles = batch.sessions.into_iter().filter_map(|it| it.title);
            told.words.extend(titles.map(|it| it.text));
            told.words.extend(batch.events.iter().map(|it| it.body.text().to_owned()));
            told.tally = batch.tally;
            told.cursor = Some(batch.cursor);
        }
        told.rest = reader.rest().to_vec();
        told
    }
}

impl Told {
    fn n_ignored(&self, kind: &str) -> u64 {
        self.tally.ignored.get(kind).copied().unwrap_or(0)
    }
}

#[test]
fn a_new_name_alone_gives_a_new_title() {
    let machine = Machine::new();
    machine.start(A);
    machine.name(&[(A, "one")]);
    let told = machine.read("session_index.jsonl", None);
    assert_eq!(told.words, ["one"]);
    machine.name(&[(A, "one"), (A, "another")]);
    let more = machine.read("session_index.jsonl", told.cursor.as_ref());
    assert_eq!((more.start, more.words), (Start::Continued, vec!["another".to_owned()]));
}

#[test]
fn a_name_of_a_thread_without_a_rollout_waits_for_it() {
    let machine = Machine::new();
    machine.start(A);
    machine.name(&[(A, "one"), (B, "two"), (A, "three")]);
    let told = machine.read("session_index.jsonl", None);
    assert_eq!(told.words, ["one", "three"]);
    assert_eq!(told.n_ignored("session_index/no-rollout"), 1);
    machine.start(B);
    machine.name(&[(A, "one"), (B, "two"), (A, "three"), (A, "four")]);
    let more = machine.read("session_index.jsonl", told.cursor.as_ref());
    assert_eq!(more.start, Start::Restarted);
    assert_eq!(more.words, ["one", "two", "three", "four"]);
    let end = machine.read("session_index.jsonl", more.cursor.as_ref());
    assert_eq!((end.start, end.words), (Start::Continued, Vec::new()));
}

#[test]
fn a_prompt_is_told_only_if_its_thread_has_no_rollout_and_will_have_none() {
    let machine = Machine::new();
    machine.start(A);
    machine.type_in(&[(A, 0, "kept"), (B, 1, "gone"), (A, DAY + 1, "kept"), (B, DAY + 2, "young")]);
    let told = machine.read("history.jsonl", None);
    assert_eq!(told.words, ["gone"]);
    assert_eq!(told.n_ignored("history/in-rollout"), 2);
    assert!(told.rest.ends_with(b"\"young\"}\n"), "{:?}", String::from_utf8_lossy(&told.rest));

    // Its rollout, made late, tells it.
    machine.start(B);
    let more = machine.read("history.jsonl", told.cursor.as_ref());
    assert_eq!((more.words.len(), more.rest.len()), (0, 0));
    assert_eq!(more.n_ignored("history/in-rollout"), 1);
}

#[test]
fn a_prompt_that_was_covered_is_not_told_when_its_rollout_is_deleted() {
    let machine = Machine::new();
    machine.start(A);
    machine.type_in(&[(B, 0, "trimmed later"), (A, 1, "kept"), (A, DAY, "kept too")]);
    let told = machine.read("history.jsonl", None);
    fs::remove_file(machine.rollout(A)).expect("removes");
    machine.start(B);
    machine.type_in(&[
        (B, 0, "trimmed later"),
        (A, 1, "kept"),
        (A, DAY, "kept too"),
        (A, 2 * DAY, "resumed elsewhere"),
        (B, 3 * DAY, "new"),
    ]);
    let more = machine.read("history.jsonl", told.cursor.as_ref());
    assert_eq!((more.start, more.words), (Start::Continued, vec!["resumed elsewhere".to_owned()]));

    // Codex trims the file in place, from its beginning.
    machine.type_in(&[
        (A, 1, "kept"),
        (A, DAY, "kept too"),
        (A, 4 * DAY, "late"),
        (B, 6 * DAY, "x"),
    ]);
    let trimmed = machine.read("history.jsonl", more.cursor.as_ref());
    assert_eq!((trimmed.start, trimmed.words.clone()), (Start::Restarted, vec!["late".to_owned()]));
    assert_eq!(trimmed.n_ignored("history/read-before"), 2);
}

#[test]
fn prompts_are_not_told_while_rollouts_cannot_be_listed() {
    let machine = Machine::new();
    machine.type_in(&[(A, 0, "gone?"), (A, DAY, "x")]);
    let feed = machine.feed("history.jsonl");
    // Deeper than any folder is followed.
    let deep: PathBuf = (0..20).map(|_| "d").collect();
    fs::create_dir_all(machine.path("sessions").join(deep)).expect("makes folders");
    assert!(machine.connector.open(&feed, None).is_err());
}
