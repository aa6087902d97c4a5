//! What a search promises, from the store and the index together.

use ai_hist_index::{Doc, Identity, Index, Mark};
use ai_hist_model::{
    AgentId, Author, Batch, Coded as _, ConnectorId, Cursor, ErrorCode, Event, EventBody,
    EventKind, FeedId, NativeEventKey, NativeSessionId, SessionFacts, SessionKey, Span, Tally,
    Timestamp, Title, TitleOrigin,
};
use ai_hist_query::{Answer, QueryError, Request, search};
use ai_hist_store::{Commit, Origin, Step, Store};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn key(agent: &'static str, native: &str) -> SessionKey {
    let agent = AgentId::from_static(agent);
    SessionKey { agent, native: NativeSessionId::parse(native).expect("is harmless") }
}

/// A machine with a store, and an index that may be behind.
struct Machine {
    store: Store,
    index: Index,
    _dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        let identity = Identity { store: store.uuid().to_owned() };
        let index = Index::open(&dir.path().join("index"), &identity).expect("opens");
        Self { store, index, _dir: dir }
    }

    /// Takes in a session.
    fn session(&self, key: &SessionKey, title: &str, cwd: &str, events: Vec<Event>) {
        let facts = SessionFacts {
            title: Some(Title { text: title.to_owned(), origin: TitleOrigin::Person }),
            cwd: Some(cwd.to_owned()),
            ..SessionFacts::about(key.clone())
        };
        let batch = Batch {
            sessions: vec![facts],
            events,
            usage: Vec::new(),
            tally: Tally::default(),
            skipped: Vec::new(),
            raw: Vec::new(),
            cursor: Cursor::new("end".to_owned()),
        };
        let step = Step {
            connector: ConnectorId::from_static("test"),
            feed: FeedId(key.to_string()),
            path: None,
            origin: Origin::local(),
            reading: 1,
            commit: Commit::Batch { after: None, restarted: false, batch: Box::new(batch) },
        };
        self.store.writer().expect("connects").commit(&[step]).expect("commits");
    }

    /// Indexes what is not indexed, up to `last_row`.
    fn index_to(&self, last_row: u64) {
        let mut writer = self.index.writer(15_000_000, 1).expect("takes the place");
        for event in self.store.events_after(writer.mark().row, 1_000).expect("reads") {
            if event.row <= last_row {
                let session =
                    self.store.session_of_row(event.session).expect("reads").expect("is there");
                let doc = Doc {
                    row: event.row,
                    session: event.session.0.unsigned_abs(),
                    kind: event.kind,
                    agent: session.facts.key.agent.as_str(),
                    project: session.facts.cwd.as_deref().unwrap_or_default(),
                    at: event.at,
                    tool: "",
                    path: "",
                    text: "",
                };
                writer.add(&doc.with_body(&event.body)).expect("adds");
            }
        }
        writer.commit(Mark { row: last_row, reindex: 0 }).expect("commits");
    }

    fn try_search(
        &self,
        text: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Answer, QueryError> {
        let request = Request { text, limit: Some(limit), cursor, now: NOW };
        search(&self.store, &self.index, &request)
    }

    fn search(&self, text: &str) -> Answer {
        let answer = self.try_search(text, 50, None).expect("searches");
        assert_eq!(answer.hits.len() as u64, answer.total, "`{text}`");
        answer
    }

    fn seqs(&self, text: &str) -> Vec<u64> {
        let mut seqs: Vec<u64> = self.search(text).hits.iter().map(|it| it.seq).collect();
        seqs.sort_unstable();
        seqs
    }
}

fn event(key: &SessionKey, n: u64, author: Author, body: EventBody) -> Event {
    let at = Timestamp(NOW.0 - 1_000_000 + 1_000 * i64::try_from(n).expect("is small"));
    let span = Span { first_byte: n, n_bytes: 1 };
    Event::new(key.id(), &NativeEventKey(n.to_string()), Some(at), author, body, span)
}

fn says(key: &SessionKey, n: u64, text: &str) -> Event {
    event(key, n, Author::Person, EventBody::Message { text: text.to_owned() })
}

/// Six events, of which the first three are indexed.
fn machine() -> Machine {
    let machine = Machine::new();
    let key = key("claude", "3f2a-1");
    let call = EventBody::ToolCall {
        call: "1".to_owned(),
        tool: "Bash".to_owned(),
        input: r#"{"command":"cargo test\ncargo clippy"}"#.to_owned(),
    };
    let events = vec![
        says(&key, 0, "please fix handleUserLogin"),
        says(&key, 1, "RESTAURANT_SIGNALS stays"),
        event(&key, 2, Author::Model { name: None }, call),
        says(&key, 3, "the login page shows error-401"),
        says(&key, 4, "数据库迁移脚本 on another day"),
        says(&key, 5, "restaurant and other signals"),
    ];
    machine.session(&key, "Logins", "/home/dev/my-app", events);
    machine.index_to(3);
    machine
}

#[test]
fn what_is_not_indexed_yet_is_found_as_well() {
    let machine = machine();
    for (text, expected) in [
        ("login", &[0, 3][..]),
        ("error-401", &[3]),
        ("迁移", &[4]),
        ("cargo clippy", &[2]),
        ("bash", &[2]),
        ("RESTAURANT_SIGNALS", &[1]),
        ("restaurant signals", &[1, 5]),
        ("login -page", &[0]),
        ("\"fix handleUserLogin\"", &[0]),
        ("log*", &[0, 3]),
        ("", &[0, 1, 2, 3, 4, 5]),
    ] {
        assert_eq!(machine.seqs(text), expected, "`{text}`");
    }
    let answer = machine.search("login");
    assert_eq!(answer.notes, [""; 0]);
    let coverage = &answer.coverage;
    assert_eq!((coverage.last_row, coverage.indexed_row, coverage.n_tail), (6, 3, 3));
    assert!(coverage.is_whole());
    let newest = machine.search("");
    assert_eq!(newest.hits[0].seq, 5, "the newest comes first");
    machine.index_to(6);
    assert_eq!(machine.search("login").coverage.n_tail, 0);
    assert_eq!(machine.seqs("login"), [0, 3]);
}

#[test]
fn a_hit_says_what_and_where_it_is() {
    let answer = machine().search("login fix");
    let hit = &answer.hits[0];
    assert_eq!(hit.session, key("claude", "3f2a-1"));
    assert_eq!((hit.title.as_str(), hit.project.as_deref()), ("Logins", Some("/home/dev/my-app")));
    assert_eq!((hit.seq, hit.kind), (0, EventKind::Prompt));
    assert_eq!(hit.snippet.text, "please fix handleUserLogin");
    let marked: Vec<_> = hit.snippet.marks.iter().map(|it| &hit.snippet.text[it.clone()]).collect();
    assert_eq!(marked, ["fix", "Login"]);
    assert!(0.0 < hit.score && hit.at.is_some());
}

#[test]
fn filters_hold_and_say_when_they_keep_everything_out() {
    let machine = machine();
    let other = key("codex", "3f2a-2");
    machine.session(&other, "Other", "/srv/api", vec![says(&other, 0, "login once more")]);
    for (text, expected) in [
        ("source:codex login", 1),
        ("source:claude login", 2),
        ("session:3f2a login", 3),
        ("session:codex:3f2a login", 1),
        ("session:3f2a-1 login", 2),
        ("project:my-app login", 2),
        ("cwd:/srv/api", 1),
        ("kind:tool_call", 1),
        ("role:user login", 3),
        ("tool:bash", 1),
        ("after:2027-01-15 login", 3),
        ("before:2027-01-15 login", 0),
    ] {
        assert_eq!(machine.search(text).total, expected, "`{text}`");
    }
    for (text, note) in [
        ("source:nobody login", "no event passes the filters"),
        ("kind:tool_call login", "3 events match and do not pass the filters"),
        ("session:ffff login", "no session's id begins with `ffff`"),
        ("kind:nonsense login", "`nonsense` is no kind of event: looked for as text"),
        ("***", "there is no word in the query"),
    ] {
        let notes = machine.search(text).notes;
        assert!(notes.iter().any(|it| it == note), "`{text}`: {notes:?}");
    }
}

#[test]
fn where_nothing_matches_what_comes_near_is_found() {
    let machine = machine();
    for (text, expected, note) in [
        ("UserLogin", &[0][..], "apart"),
        ("restaurnt", &[1, 5], "`restaurnt`"),
        ("pleaze login", &[0], "`pleaze`"),
        ("please page", &[0, 3], "some of them"),
        ("please wholly_unheard_of", &[0], "`wholly_unheard_of`"),
        ("wholly_unheard_of", &[], ""),
    ] {
        let answer = machine.search(text);
        assert_eq!(machine.seqs(text), expected, "`{text}` {:?}", answer.notes);
        assert_eq!(
            answer.notes.len(),
            usize::from(!note.is_empty()),
            "`{text}` {:?}",
            answer.notes
        );
        assert!(answer.notes.iter().all(|it| it.contains(note)), "`{text}` {:?}", answer.notes);
    }
}

#[test]
fn pages_put_together_are_the_first_answer_whatever_comes_meanwhile() {
    let machine = Machine::new();
    let first = key("claude", "s-1");
    let events = (0..23).map(|n| says(&first, n, "the same words")).collect();
    machine.session(&first, "Many", "/a", events);
    machine.index_to(10);
    let mut seqs = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = machine.try_search("same words", 5, cursor.as_deref()).expect("searches");
        assert_eq!(page.total, 23);
        seqs.extend(page.hits.iter().map(|it| it.seq));
        let n_pages = seqs.len() / 5;
        let late = key("claude", &format!("late-{n_pages}"));
        machine.session(&late, "Late", "/a", vec![says(&late, 0, "the same words")]);
        machine.index_to(10 + 5 * n_pages as u64);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seqs, (0..23).rev().collect::<Vec<u64>>());
}

#[test]
fn a_page_of_near_hits_goes_on_with_near_hits() {
    let machine = Machine::new();
    let key = key("claude", "s-1");
    let events = (0..4).map(|n| says(&key, n, "a restaurant")).collect();
    machine.session(&key, "Many", "/a", events);
    let first = machine.try_search("restaurnt", 3, None).expect("searches");
    let second =
        machine.try_search("restaurnt", 3, first.next_cursor.as_deref()).expect("searches");
    assert_eq!((first.hits.len(), second.hits.len(), second.next_cursor), (3, 1, None));
}

#[test]
fn a_cursor_of_another_query_is_refused() {
    let machine = machine();
    let cursor = machine.try_search("login", 1, None).expect("searches").next_cursor.unwrap();
    for (text, cursor) in [("logi", cursor.as_str()), ("login", "nonsense"), ("login", "")] {
        let error = machine.try_search(text, 1, Some(cursor)).expect_err("is refused");
        assert_eq!(error.code(), ErrorCode::InvalidCursor);
        assert!(error.hint().is_some());
    }
}

#[test]
fn any_text_is_answered() {
    let machine = machine();
    let long = "x".repeat(5_000);
    let many = "x y ".repeat(5_000);
    for text in
        ["AND", "*", "\"x", "NEAR(a b", "-- -x", "-", "a:b", "\\", "\0", "(((", &long, &many]
    {
        machine.search(text);
    }
}
