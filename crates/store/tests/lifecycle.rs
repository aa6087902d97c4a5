//! What becomes of sessions that were copied, forgotten, excluded, or read again.

use ai_hist_model::{
    AgentId, Author, Batch, ConnectorId, Cursor, Event, EventBody, FeedId, Lineage, NativeEventKey,
    NativeSessionId, Relation, SessionFacts, SessionKey, Span, Tally, Timestamp, Usage,
};
use ai_hist_store::{
    Commit, Copied, FeedAccount, Origin, Replayed, Step, Store, StoreError, StoredEvent,
    StoredSession,
};

const CONNECTOR: ConnectorId = ConnectorId::from_static("claude");

fn key(native: &str) -> SessionKey {
    SessionKey {
        agent: AgentId::from_static("claude"),
        native: NativeSessionId::parse(native).expect("is harmless"),
    }
}

/// A transcript: a line for each prompt, whose name is its text.
struct Transcript {
    session: SessionKey,
    facts: SessionFacts,
    lines: Vec<(String, i64)>,
}

impl Transcript {
    fn new(native: &str, lines: &[&str]) -> Self {
        let session = key(native);
        let lines = lines.iter().zip(1_000..).map(|(it, at)| ((*it).to_owned(), at)).collect();
        Self { facts: SessionFacts::about(session.clone()), session, lines }
    }

    fn batch(&self) -> Batch {
        let mut raw = Vec::new();
        let mut events = Vec::new();
        let mut usage = Vec::new();
        for (words, at) in &self.lines {
            let line = format!("{{\"s\":\"{}\",\"text\":{words:?}}}\n", self.session.native);
            let span = Span { first_byte: raw.len() as u64, n_bytes: line.len() as u64 };
            let name = NativeEventKey(words.chars().take(20).collect());
            let body = EventBody::Message { text: words.clone() };
            let session = self.session.id();
            let at = Some(Timestamp(*at));
            events.push(Event::new(session, &name, at, Author::Person, body, span));
            usage.push(Usage {
                session,
                key: name.0,
                model: None,
                at,
                input: 10,
                cache_read: 0,
                cache_write: 0,
                output: 1,
            });
            raw.extend_from_slice(line.as_bytes());
        }
        let mut tally = Tally::default();
        tally.understood.insert("user".to_owned(), events.len() as u64);
        let sessions = vec![self.facts.clone()];
        let cursor = Cursor::new(raw.len().to_string());
        Batch { sessions, events, usage, tally, skipped: Vec::new(), raw, cursor }
    }

    fn steps(&self, feed: &str) -> [Step; 2] {
        let batch = Box::new(self.batch());
        let end = Commit::End { after: Some(batch.cursor.clone()), stamp: None, rest: Vec::new() };
        [step(feed, Commit::Batch { after: None, restarted: false, batch }), step(feed, end)]
    }
}

fn step(feed: &str, commit: Commit) -> Step {
    Step {
        connector: CONNECTOR,
        feed: FeedId(feed.to_owned()),
        path: Some(format!("/home/dev/{feed}.jsonl")),
        origin: Origin::local(),
        reading: 1,
        commit,
    }
}

struct Fixture {
    store: Store,
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        Self { store: Store::open(dir.path()).expect("opens"), dir }
    }

    fn take(&self, feed: &str, transcript: &Transcript) {
        self.store.writer().expect("connects").commit(&transcript.steps(feed)).expect("commits");
    }

    fn session(&self, native: &str) -> Option<StoredSession> {
        self.store.session(&Origin::local(), &key(native)).expect("reads")
    }

    fn events(&self, native: &str) -> Vec<StoredEvent> {
        let session = self.session(native).expect("is there");
        self.store.events_up(session.row, 0, u64::MAX, 1_000).expect("reads")
    }

    fn copied(&self, native: &str) -> Vec<bool> {
        self.events(native).iter().map(|it| it.copied == Copied::Shared).collect()
    }

    fn account(&self, feed: &str) -> FeedAccount {
        let accounts = self.store.accounts().expect("reads");
        accounts.into_iter().find(|it| it.name == feed).expect("is there")
    }

    fn bytes(&self, feed: &str) -> String {
        let account = self.account(feed);
        let mut bytes = Vec::new();
        self.store.restore(&account, account.generation, &mut bytes).expect("restores");
        String::from_utf8(bytes).expect("is text")
    }

    fn n_calls(&self, native: &str) -> u64 {
        let session = self.session(native).expect("is there");
        self.store.usage(session.row).expect("reads").iter().map(|it| it.n_calls).sum()
    }

    /// Whether any file of the state folder holds `words`, plain.
    fn holds(&self, words: &str) -> bool {
        let files = std::fs::read_dir(self.dir.path()).expect("lists");
        files.flatten().any(|it| {
            let bytes = std::fs::read(it.path()).unwrap_or_default();
            memchr::memmem::find(&bytes, words.as_bytes()).is_some()
        })
    }
}

#[test]
fn a_fork_holds_all_and_counts_its_own_whichever_is_read_first() {
    let parent = Transcript::new("parent", &["one", "two", "three"]);
    let fork = Transcript::new("fork", &["one", "two", "three", "four", "five"]);
    for order in [["parent", "fork"], ["fork", "parent"]] {
        let fixture = Fixture::new();
        for name in order {
            fixture.take(name, if name == "fork" { &fork } else { &parent });
        }
        assert_eq!(fixture.copied("parent"), [false; 3], "{order:?}");
        assert_eq!(fixture.copied("fork"), [true, true, true, false, false], "{order:?}");
        let session = fixture.session("fork").expect("is there");
        assert_eq!((session.n_events, session.n_copied, session.n_prompts), (5, 3, 2), "{order:?}");
        let lineage = Lineage { parent: key("parent"), relation: Relation::Fork };
        assert_eq!(session.facts.lineage, Some(lineage), "{order:?}");
        assert_eq!((fixture.n_calls("parent"), fixture.n_calls("fork")), (3, 2), "{order:?}");
        let ids: std::collections::HashSet<_> =
            ["parent", "fork"].iter().flat_map(|it| fixture.events(it)).map(|it| it.id).collect();
        assert_eq!(ids.len(), 8, "an id is one event's, also in a copy");
    }
}

#[test]
fn a_fork_of_a_fork_comes_from_the_nearer_one() {
    let fixture = Fixture::new();
    fixture.take("c", &Transcript::new("c", &["one", "two", "three", "four"]));
    fixture.take("a", &Transcript::new("a", &["one", "two"]));
    fixture.take("b", &Transcript::new("b", &["one", "two", "three"]));
    assert_eq!(fixture.copied("c"), [true, true, true, false]);
    assert_eq!(fixture.copied("b"), [true, true, false]);
    let parent =
        |it: &str| fixture.session(it).expect("is there").facts.lineage.map(|it| it.parent);
    assert_eq!(parent("b"), Some(key("a")));
    assert_eq!(parent("a"), None);
}

#[test]
fn what_a_transcript_calls_inherited_counts_until_its_parent_is_there() {
    let mut fork = Transcript::new("fork", &["x", "y"]);
    fork.facts.lineage = Some(Lineage { parent: key("parent"), relation: Relation::Fork });
    let mut batch = fork.batch();
    batch.events[0].inherited = true;
    let fixture = Fixture::new();
    let after = Some(batch.cursor.clone());
    let commit = Commit::Batch { after: None, restarted: false, batch: Box::new(batch) };
    let end = Commit::End { after, stamp: None, rest: Vec::new() };
    let steps = [step("fork", commit), step("fork", end)];
    fixture.store.writer().expect("connects").commit(&steps).expect("commits");
    assert_eq!(fixture.events("fork")[0].copied, Copied::Stated);
    assert_eq!(fixture.session("fork").expect("is there").n_prompts, 2);
    fixture.take("parent", &Transcript::new("parent", &["other words"]));
    assert_eq!(fixture.copied("fork"), [true, false]);
    assert_eq!(fixture.session("fork").expect("is there").n_prompts, 1);
}

#[test]
fn a_forgotten_session_leaves_nothing_and_stays_away() {
    let fixture = Fixture::new();
    let secret = "the secret word is xyzzy";
    fixture.take("parent", &Transcript::new("parent", &[secret, "two"]));
    fixture.take("fork", &Transcript::new("fork", &[secret, "two", "three"]));
    fixture.take("other", &Transcript::new("other", &["nothing of it"]));
    let reindexed = fixture.store.last_reindex().expect("reads");
    let erased = fixture.store.writer().expect("connects").forget(&key("parent"), Timestamp(5));
    let erased = erased.expect("forgets");
    assert_eq!((erased.n_sessions, erased.n_events, erased.n_feeds), (1, 2, 1));
    assert!(fixture.session("parent").is_none());
    assert_eq!(fixture.copied("fork"), [false; 3], "the fork's copies are its own now");
    assert!(reindexed < fixture.store.last_reindex().expect("reads"));
    fixture.take("parent", &Transcript::new("parent", &[secret, "two"]));
    fixture.take("a copy of it", &Transcript::new("parent", &[secret]));
    assert!(fixture.session("parent").is_none(), "its transcript is not read again");
    assert!(fixture.account("parent").is_hidden);
    assert_eq!(fixture.bytes("parent"), "");
    fixture.store.writer().expect("connects").forget(&key("fork"), Timestamp(5)).expect("forgets");
    assert_eq!(fixture.events("other").len(), 1);
    assert!(fixture.store.writer().expect("connects").remember(&key("parent")).expect("writes"));
    fixture.take("parent", &Transcript::new("parent", &[secret, "two"]));
    assert_eq!(fixture.events("parent").len(), 2);
}

#[test]
fn in_a_feed_of_many_sessions_only_the_lines_of_the_forgotten_one_go() {
    let fixture = Fixture::new();
    let words = "w".repeat(600);
    let mut both = Transcript::new("keep", &[&words, "mentions gone"]).batch();
    let gone = Transcript::new("gone", &["a secret"]).batch();
    let n_before = both.raw.len() as u64;
    both.sessions.extend(gone.sessions);
    for mut event in gone.events {
        event.span.first_byte += n_before;
        both.events.push(event);
    }
    both.raw.extend(&gone.raw);
    let commit = Commit::Batch { after: None, restarted: false, batch: Box::new(both) };
    fixture.store.writer().expect("connects").commit(&[step("list", commit)]).expect("commits");
    let before = fixture.bytes("list");
    fixture.store.writer().expect("connects").forget(&key("gone"), Timestamp(5)).expect("forgets");
    let after = fixture.bytes("list");
    assert_eq!(before.len(), after.len());
    assert!(after.contains("mentions gone") && !after.contains("a secret"), "{after}");
    let texts: Vec<String> =
        fixture.events("keep").iter().map(|it| it.body.text().to_owned()).collect();
    assert_eq!(texts, [words, "mentions gone".to_owned()]);
    assert!(!fixture.account("list").is_hidden);
}

#[test]
fn what_happens_in_an_excluded_folder_is_not_taken_in() {
    let fixture = Fixture::new();
    let mut private = Transcript::new("private", &["a private word"]);
    private.facts.cwd = Some("/home/dev/private/notes".to_owned());
    fixture.store.writer().expect("connects").exclude("/home/dev/private").expect("writes");
    fixture.take("private", &private);
    fixture.take("open", &Transcript::new("open", &["an open word"]));
    assert!(fixture.session("private").is_none());
    assert!(fixture.account("private").is_hidden);
    assert_eq!(fixture.bytes("private"), "");
    assert!(!fixture.holds("a private word"));
    assert_eq!(fixture.events("open").len(), 1);
    fixture.store.writer().expect("connects").include("/home/dev/private").expect("writes");
    fixture.take("private", &private);
    assert_eq!(fixture.events("private").len(), 1);
}

#[test]
fn a_long_text_is_kept_once_and_given_out_whole() {
    let fixture = Fixture::new();
    let long = "a line of output é \"quoted\" \\ back\n".repeat(400);
    let transcript = Transcript::new("long", &[&long, "short"]);
    fixture.take("long", &transcript);
    let texts: Vec<String> =
        fixture.events("long").iter().map(|it| it.body.text().to_owned()).collect();
    assert_eq!(texts, [long, "short".to_owned()]);
}

#[test]
fn reading_again_replaces_what_was_there_and_keeps_every_byte() {
    let fixture = Fixture::new();
    let long = "first words ".repeat(100);
    let transcript = Transcript::new("s", &[&long, "two"]);
    fixture.take("s", &transcript);
    let bytes = fixture.bytes("s");
    let cluster = fixture.store.cluster(fixture.account("s").id).expect("reads");
    assert_eq!(cluster.feeds.len(), 1);
    // A later version makes three events of the two lines.
    let mut batch = transcript.batch();
    let extra = NativeEventKey("extra".to_owned());
    let Event { session, at, span, .. } = batch.events[0].clone();
    let body = EventBody::Plan { text: "a plan".to_owned() };
    batch.events.insert(0, Event::new(session, &extra, at, Author::Tool, body, span));
    let feed = cluster.feeds[0].id;
    let end = Commit::End { after: None, stamp: None, rest: Vec::new() };
    let again =
        Replayed { feed, step: Step { reading: 2, ..step("s", end) }, generation: 0, batch };
    let mut writer = fixture.store.writer().expect("connects");
    let failed = writer.replay(&cluster, &mut |take| {
        take(&again)?;
        Err(StoreError::Damaged { what: "on purpose".to_owned() })
    });
    failed.expect_err("fails");
    assert_eq!(fixture.events("s").len(), 2, "a failure changes nothing");
    writer.replay(&cluster, &mut |take| take(&again)).expect("replays");
    let events = fixture.events("s");
    assert_eq!(events.iter().map(|it| it.seq).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(events[0].body.text(), "a plan");
    assert_eq!(events[1].body.text(), long);
    assert_eq!(fixture.bytes("s"), bytes);
    let account = fixture.account("s");
    assert_eq!((account.reading, account.tally[0].n), (2, 2));
    assert_eq!(fixture.session("s").expect("is there").n_prompts, 2);
}

#[test]
fn a_session_that_grows_a_line_at_a_time_is_kept_in_few_pieces() {
    let fixture = Fixture::new();
    let mut cursor = None;
    let mut whole = String::new();
    for n in 0..300 {
        let line = format!("{{\"n\":{n}}}\n");
        let span = Span { first_byte: whole.len() as u64, n_bytes: line.len() as u64 };
        whole.push_str(&line);
        let body = EventBody::Message { text: format!("line {n}") };
        let name = NativeEventKey(n.to_string());
        let mut batch = Transcript::new("s", &[]).batch();
        batch.events = vec![Event::new(key("s").id(), &name, None, Author::Person, body, span)];
        batch.raw = line.into_bytes();
        batch.cursor = Cursor::new(n.to_string());
        let after = cursor.replace(batch.cursor.clone());
        let commit = Commit::Batch { after, restarted: false, batch: Box::new(batch) };
        fixture.store.writer().expect("connects").commit(&[step("s", commit)]).expect("commits");
    }
    assert_eq!(fixture.bytes("s"), whole);
    let (n_bytes, n_stored) = fixture.store.archive_bytes().expect("reads");
    assert_eq!(n_bytes, whole.len() as u64);
    assert!(n_stored * 2 < n_bytes, "{n_stored} bytes for {n_bytes}: not compressed together");
    let texts: Vec<String> =
        fixture.events("s").iter().map(|it| it.body.text().to_owned()).collect();
    assert_eq!(texts[299], "line 299");
}
