//! What the store promises about taking in and giving out.

use ai_hist_model::{
    AgentId, Author, Batch, Change, ConnectorId, Cursor, Event, EventBody, EventKind, FeedId,
    NativeEventKey, NativeSessionId, SessionFacts, SessionKey, Skipped, Span, Stamp, Tally,
    Timestamp, Title, TitleOrigin, ToolOutcome, Usage,
};
use ai_hist_store::{Commit, Origin, SessionPage, Step, Store, Taken, TallyClass};

const CONNECTOR: ConnectorId = ConnectorId::from_static("claude");

fn key() -> SessionKey {
    SessionKey {
        agent: AgentId::from_static("claude"),
        native: NativeSessionId::parse("s-1").expect("is harmless"),
    }
}

fn event(name: &str, author: Author, body: EventBody) -> Event {
    let span = Span { first_byte: 0, n_bytes: 1 };
    let at = Some(Timestamp(1_000 + i64::try_from(name.len()).expect("is short")));
    Event::new(key().id(), &NativeEventKey(name.to_owned()), at, author, body, span)
}

fn prompt(name: &str) -> Event {
    event(name, Author::Person, EventBody::Message { text: format!("please {name}") })
}

fn batch(events: Vec<Event>, raw: &[u8], cursor: &str) -> Batch {
    let mut tally = Tally::default();
    tally.understood.insert("user".to_owned(), events.len() as u64);
    Batch {
        sessions: vec![SessionFacts::about(key())],
        events,
        usage: Vec::new(),
        tally,
        skipped: Vec::new(),
        raw: raw.to_vec(),
        cursor: Cursor::new(cursor.to_owned()),
    }
}

fn step(after: Option<&str>, batch: Batch) -> Step {
    let after = after.map(|it| Cursor::new(it.to_owned()));
    of_feed("f", Commit::Batch { after, restarted: false, batch: Box::new(batch) })
}

fn of_feed(feed: &str, commit: Commit) -> Step {
    Step {
        connector: CONNECTOR,
        feed: FeedId(feed.to_owned()),
        path: None,
        origin: Origin::local(),
        reading: 1,
        commit,
    }
}

struct Fixture {
    store: Store,
    _dir: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().expect("makes a folder");
    Fixture { store: Store::open(dir.path()).expect("opens"), _dir: dir }
}

impl Fixture {
    fn commit(&self, steps: &[Step]) -> Taken {
        self.store.writer().expect("connects").commit(steps).expect("commits")
    }

    fn seqs(&self) -> Vec<u64> {
        let session =
            self.store.session(&Origin::local(), &key()).expect("reads").expect("is there");
        let events = self.store.events_up(session.row, 0, u64::MAX, 1000).expect("reads");
        events.iter().map(|it| it.seq).collect()
    }
}

#[test]
fn the_same_events_again_change_nothing() {
    let fixture = fixture();
    fixture.commit(&[step(None, batch(vec![prompt("a"), prompt("b")], b"12", "1"))]);
    let again = batch(vec![prompt("a"), prompt("b"), prompt("c")], b"34", "1");
    let taken = fixture.commit(&[of_feed(
        "another file of the same session",
        Commit::Batch { after: None, restarted: false, batch: Box::new(again) },
    )]);
    assert_eq!((taken.n_events, taken.n_known), (1, 2));
    assert_eq!(fixture.seqs(), [0, 1, 2]);
}

#[test]
fn a_step_from_a_cursor_that_has_moved_changes_nothing() {
    let fixture = fixture();
    fixture.commit(&[step(None, batch(vec![prompt("a")], b"1", "1"))]);
    let taken = fixture.commit(&[step(None, batch(vec![prompt("b")], b"2", "2"))]);
    assert_eq!((taken.n_events, taken.n_stale), (0, 1));
    let taken = fixture.commit(&[step(Some("1"), batch(vec![prompt("b")], b"2", "2"))]);
    assert_eq!((taken.n_events, taken.n_stale), (1, 0));
}

#[test]
fn a_transaction_that_fails_moves_no_cursor() {
    let fixture = fixture();
    let mut orphan = batch(vec![prompt("a")], b"1", "1");
    orphan.sessions.clear();
    fixture
        .store
        .writer()
        .expect("connects")
        .commit(&[step(None, orphan)])
        .expect_err("an event of no session is refused");
    let feed = FeedId("f".to_owned());
    assert_eq!(fixture.store.feed_state(&CONNECTOR, &feed).expect("reads"), None);
}

#[test]
fn a_rewritten_feed_keeps_what_it_gave_and_begins_a_new_generation() {
    let fixture = fixture();
    fixture.commit(&[step(None, batch(vec![prompt("a")], b"old\n", "1"))]);
    let rewritten = batch(vec![prompt("b")], b"new\n", "1'");
    let after = Some(Cursor::new("1".to_owned()));
    fixture.commit(&[of_feed(
        "f",
        Commit::Batch { after, restarted: true, batch: Box::new(rewritten) },
    )]);
    assert_eq!(fixture.seqs(), [0, 1]);
    let account = &fixture.store.accounts().expect("reads")[0];
    assert_eq!(account.generation, 1);
    assert_eq!(account.tally.iter().map(|it| it.n).sum::<u64>(), 1);
    let mut restored = Vec::new();
    fixture.store.restore(account, account.generation, &mut restored).expect("restores");
    assert_eq!(restored, b"new\n");
}

#[test]
fn an_end_after_a_stretch_that_was_refused_is_no_end() {
    let fixture = fixture();
    fixture.commit(&[step(None, batch(vec![prompt("a")], b"one\n", "1"))]);
    // Another process has read on from where this one was.
    fixture.commit(&[step(Some("1"), batch(vec![prompt("b")], b"two\n", "2"))]);
    let stamp = Stamp { n_bytes: 12, modified_ms: 7, changed: 1 };
    let after = Some(Cursor::new("3".to_owned()));
    let end = Commit::End { after, stamp: Some(stamp), rest: Vec::new() };
    let late = step(Some("1"), batch(vec![prompt("b"), prompt("c")], b"two\nthree\n", "3"));
    let taken = fixture.commit(&[late, of_feed("f", end)]);
    assert_eq!((taken.n_events, taken.n_stale), (0, 2));
    let account = &fixture.store.accounts().expect("reads")[0];
    assert_eq!(account.stamp, None, "the next pass must look at it again");
}

#[test]
fn the_archive_gives_back_every_byte_and_the_torn_end() {
    let fixture = fixture();
    fixture.commit(&[step(None, batch(vec![prompt("a")], b"one\n", "1"))]);
    let stamp = Stamp { n_bytes: 10, modified_ms: 7, changed: 1 };
    let end = Commit::End {
        after: Some(Cursor::new("2".to_owned())),
        stamp: Some(stamp),
        rest: b"tor".to_vec(),
    };
    fixture.commit(&[step(Some("1"), batch(vec![prompt("b")], b"two\n", "2")), of_feed("f", end)]);
    let account = &fixture.store.accounts().expect("reads")[0];
    let mut restored = Vec::new();
    fixture.store.restore(account, account.generation, &mut restored).expect("restores");
    assert_eq!(restored, b"one\ntwo\ntor");
    assert_eq!((account.n_rest, account.stamp), (3, Some(stamp)));
    // The line is finished: what was the torn end is archived once.
    fixture.commit(&[step(Some("2"), batch(vec![prompt("c")], b"torn\n", "3"))]);
    let account = &fixture.store.accounts().expect("reads")[0];
    let mut restored = Vec::new();
    fixture.store.restore(account, account.generation, &mut restored).expect("restores");
    assert_eq!(restored, b"one\ntwo\ntorn\n");
}

#[test]
fn every_kind_of_event_comes_back_as_it_was() {
    let text = || "text \u{0} with 😀".to_owned();
    let model = || Author::Model { name: Some("opus".to_owned()) };
    let bodies = [
        (Author::Person, EventBody::Message { text: text() }),
        (Author::Agent, EventBody::Message { text: text() }),
        (Author::Harness, EventBody::Message { text: text() }),
        (model(), EventBody::Message { text: "x".repeat(400_000) }),
        (model(), EventBody::Reasoning { text: text() }),
        (
            model(),
            EventBody::ToolCall { call: "c".to_owned(), tool: "Bash".to_owned(), input: text() },
        ),
        (
            Author::Tool,
            EventBody::ToolResult {
                call: "c".to_owned(),
                outcome: ToolOutcome::Failure,
                output: String::new(),
            },
        ),
        (
            Author::Tool,
            EventBody::FileEdit {
                call: None,
                path: "/a/b".to_owned(),
                change: Change::Move,
                diff: text(),
            },
        ),
        (Author::Harness, EventBody::Plan { text: text() }),
        (Author::Harness, EventBody::Compaction { summary: text() }),
        (Author::Harness, EventBody::Marker { name: "command".to_owned(), text: text() }),
        (Author::Harness, EventBody::Unknown { kind: "new".to_owned(), text: text() }),
    ];
    let events: Vec<Event> = bodies
        .into_iter()
        .enumerate()
        .map(|(i, (author, body))| event(&format!("e{i}"), author, body))
        .collect();
    let kinds: std::collections::BTreeSet<EventKind> = events.iter().map(Event::kind).collect();
    assert_eq!(kinds.len(), EventKind::ALL.len(), "a kind is not tried");
    let fixture = fixture();
    fixture.commit(&[step(None, batch(events.clone(), b"", "1"))]);
    let stored = fixture.store.events_after(0, 100).expect("reads");
    let back: Vec<Event> = stored.into_iter().map(|it| it.into_event(key().id())).collect();
    assert_eq!(back, events);
}

#[test]
fn facts_accumulate_by_their_rules() {
    let fixture = fixture();
    let facts = |cwd: &str, branch: &str, title: (&str, TitleOrigin)| SessionFacts {
        cwd: Some(cwd.to_owned()),
        git_branch: Some(branch.to_owned()),
        title: Some(Title { text: title.0.to_owned(), origin: title.1 }),
        ..SessionFacts::about(key())
    };
    let mut first = batch(vec![prompt("a")], b"", "1");
    first.sessions = vec![
        facts("/first", "main", ("mine", TitleOrigin::Person)),
        facts("/second", "topic", ("generated", TitleOrigin::Generated)),
    ];
    fixture.commit(&[step(None, first)]);
    let session =
        fixture.store.session(&Origin::local(), &key()).expect("reads").expect("is there");
    assert_eq!(session.facts.cwd.as_deref(), Some("/first"));
    assert_eq!(session.facts.git_branch.as_deref(), Some("topic"));
    assert_eq!(session.display_title(), "mine");
    assert_eq!(session.n_prompts, 1);
    assert_eq!(session.first_prompt.as_deref(), Some("please a"));
}

#[test]
fn usage_is_counted_once_and_the_larger_stands() {
    let fixture = fixture();
    let usage = |output| Usage {
        session: key().id(),
        key: "msg_1".to_owned(),
        model: Some("opus".to_owned()),
        at: None,
        input: 10,
        cache_read: 0,
        cache_write: 0,
        output,
    };
    let mut one = batch(Vec::new(), b"", "1");
    one.usage = vec![usage(1), usage(7), usage(3)];
    fixture.commit(&[step(None, one)]);
    let session =
        fixture.store.session(&Origin::local(), &key()).expect("reads").expect("is there");
    let totals = fixture.store.usage(session.row).expect("reads");
    assert_eq!((totals.len(), totals[0].n_calls, totals[0].output), (1, 1, 7));
}

#[test]
fn damaged_records_are_counted_without_end_and_listed_up_to_a_bound() {
    let fixture = fixture();
    let mut one = batch(Vec::new(), b"", "1");
    one.tally.damaged = 500;
    one.skipped = (0..500)
        .map(|i| Skipped { locator: format!("line {i}"), reason: "torn".to_owned() })
        .collect();
    fixture.commit(&[step(None, one)]);
    let account = &fixture.store.accounts().expect("reads")[0];
    assert_eq!(account.skipped.len(), 100);
    let damaged: Vec<u64> =
        account.tally.iter().filter(|it| it.class == TallyClass::Damaged).map(|it| it.n).collect();
    assert_eq!(damaged, [500]);
}

#[test]
fn a_new_store_can_be_opened_by_many_at_once() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().expect("makes a folder");
        let uuids: Vec<String> = std::thread::scope(|scope| {
            let open = || Store::open(dir.path()).expect("opens").uuid().to_owned();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|it| it.join().expect("ends")).collect()
        });
        assert!(uuids.windows(2).all(|it| it[0] == it[1]), "{uuids:?}");
    }
}

#[test]
fn many_processes_writing_at_once_lose_and_double_nothing() {
    let dir = tempfile::tempdir().expect("makes a folder");
    std::thread::scope(|scope| {
        for process in 0..4 {
            let folder = dir.path();
            scope.spawn(move || {
                let store = Store::open(folder).expect("opens");
                for i in 0..25 {
                    let after = (0 < i).then(|| format!("{}", i - 1));
                    let names: Vec<Event> = (0..4).map(|k| prompt(&format!("{i}-{k}"))).collect();
                    let batch = batch(names, b"x", &format!("{i}"));
                    let commit = Commit::Batch {
                        after: after.map(Cursor::new),
                        restarted: false,
                        batch: Box::new(batch),
                    };
                    let feed = format!("feed of process {process}");
                    store
                        .writer()
                        .expect("connects")
                        .commit(&[of_feed(&feed, commit)])
                        .expect("commits");
                }
            });
        }
    });
    let store = Store::open(dir.path()).expect("opens");
    let sessions = store.sessions(SessionPage::FIRST, 10).expect("reads");
    assert_eq!((sessions.len(), sessions[0].n_events), (1, 100));
    assert_eq!(store.events_after(0, 1000).expect("reads").len(), 100);
}
