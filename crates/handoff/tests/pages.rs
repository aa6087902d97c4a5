//! Walking a session page by page: every row once, within the bounds, whatever it holds.

use std::collections::BTreeSet;

use ai_hist_handoff::{HandoffError, HydrationStatus, Order, PageRequest, Pager, ResumePage, Row};
use ai_hist_model::{
    AgentId, Author, Batch, Change, Coded as _, ConnectorId, Cursor, ErrorCode, Event, EventBody,
    FeedId, NativeEventKey, NativeSessionId, SessionFacts, SessionKey, Span, Tally, ToolOutcome,
};
use ai_hist_redact::Redactor;
use ai_hist_store::{Commit, Origin, Step, Store, StoredSession};

const CLOUD: ConnectorId = ConnectorId::from_static("cloud");

fn key(native: &str) -> SessionKey {
    SessionKey {
        agent: AgentId::from_static("claude"),
        native: NativeSessionId::parse(native).expect("is harmless"),
    }
}

struct Session {
    store: Store,
    dir: tempfile::TempDir,
    key: SessionKey,
    n_events: usize,
}

impl Session {
    fn new(bodies: Vec<(Author, EventBody)>) -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        let mut session = Self { store, dir, key: key("s-1"), n_events: 0 };
        session.grow(bodies);
        session
    }

    fn grow(&mut self, bodies: Vec<(Author, EventBody)>) {
        let after = (0 < self.n_events).then(|| Cursor::new(self.n_events.to_string()));
        let span = Span { first_byte: 0, n_bytes: 0 };
        let first = self.n_events;
        let events: Vec<Event> = bodies
            .into_iter()
            .enumerate()
            .map(|(i, (author, body))| {
                let name = NativeEventKey(format!("e{}", first + i));
                Event::new(self.key.id(), &name, None, author, body, span)
            })
            .collect();
        self.n_events += events.len();
        let batch = Batch {
            sessions: vec![SessionFacts::about(self.key.clone())],
            events,
            usage: Vec::new(),
            tally: Tally::default(),
            skipped: Vec::new(),
            raw: Vec::new(),
            cursor: Cursor::new(self.n_events.to_string()),
        };
        let step = Step {
            connector: CLOUD,
            feed: FeedId("claude/s-1".to_owned()),
            path: None,
            origin: Self::origin(),
            reading: 1,
            commit: Commit::Batch { after, restarted: false, batch: Box::new(batch) },
        };
        self.store.writer().expect("connects").commit(&[step]).expect("commits");
    }

    fn origin() -> Origin {
        Origin::workspace(&CLOUD, "demo")
    }

    fn stored(&self) -> StoredSession {
        self.store.session(&Self::origin(), &self.key).expect("reads").expect("is there")
    }

    fn page(&self, request: &PageRequest) -> Result<ResumePage, HandoffError> {
        let pager = Pager { store: &self.store, redactor: Redactor::builtin() };
        pager.page(&self.stored(), HydrationStatus::Fetched, 0, request)
    }

    /// Walks to the end and calls `between` after each page. Gives the pages.
    fn walk(&mut self, request: &PageRequest, between: &dyn Fn(&mut Self)) -> Vec<ResumePage> {
        let mut request = request.clone();
        let mut pages = Vec::new();
        loop {
            let page = self.page(&request).expect("makes a page");
            let size = serde_json::to_string(&page).expect("is JSON").len();
            let bound = request.max_bytes.unwrap_or(20_000);
            assert!(size <= bound, "{size} bytes, more than {bound}");
            request.cursor.clone_from(&page.next_cursor);
            pages.push(page);
            if request.cursor.is_none() {
                return pages;
            }
            assert!(!rows(pages.last().expect("was pushed")).is_empty(), "a page without progress");
            between(self);
        }
    }
}

fn rows(page: &ResumePage) -> Vec<Row> {
    let lists = [&page.prompts, &page.events, &page.tool_calls, &page.file_edits];
    let mut rows: Vec<Row> = lists.into_iter().flatten().cloned().collect();
    rows.sort_by_key(|it| it.seq);
    rows
}

/// A session of `n` turns: prompt, thought, call, result, edit, answer; some texts are long, some
/// are hostile.
fn turns(n: usize) -> Vec<(Author, EventBody)> {
    let model = || Author::Model { name: Some("opus".to_owned()) };
    let mut bodies = Vec::new();
    for i in 0..n {
        let long = "line of output\n".repeat(if i % 5 == 0 { 2_000 } else { 1 });
        let hostile = "\u{0}\"\\\u{202e}😀".repeat(if i % 7 == 0 { 900 } else { 1 });
        let call = format!("call-{i}");
        bodies.push((Author::Person, EventBody::Message { text: format!("prompt {i}") }));
        bodies.push((model(), EventBody::Reasoning { text: hostile }));
        bodies.push((
            model(),
            EventBody::ToolCall {
                call: call.clone(),
                tool: "Bash".to_owned(),
                input: "{\"command\":\"ls\"}".to_owned(),
            },
        ));
        bodies.push((
            Author::Tool,
            EventBody::ToolResult {
                call: call.clone(),
                outcome: ToolOutcome::Success,
                output: long,
            },
        ));
        bodies.push((
            Author::Tool,
            EventBody::FileEdit {
                call: Some(call),
                path: format!("/src/{i}.rs"),
                change: Change::Update,
                diff: "+x".to_owned(),
            },
        ));
        bodies.push((model(), EventBody::Message { text: format!("done {i}") }));
    }
    bodies
}

fn check(mut session: Session, request: &PageRequest, expected: &BTreeSet<u64>) {
    let pages = session.walk(request, &|_| {});
    let mut seen = BTreeSet::new();
    for row in pages.iter().flat_map(rows) {
        assert!(seen.insert(row.seq), "row {} twice", row.seq);
    }
    assert_eq!(seen, *expected);
    assert_eq!(pages[0].hydration.rows_total, expected.len() as u64);
}

/// All events but the results, which go with their calls.
fn rows_of(n_turns: u64) -> BTreeSet<u64> {
    (0..n_turns * 6).filter(|it| it % 6 != 3).collect()
}

#[test]
fn every_row_comes_once_in_both_orders_and_at_every_size() {
    for order in [Order::Newest, Order::Oldest] {
        for (limit, max_bytes) in [(200, 20_000), (1, 28_000), (3, 4_000), (1_000, 28_000)] {
            let request = PageRequest {
                order: Some(order),
                limit: Some(limit),
                max_bytes: Some(max_bytes),
                cursor: None,
            };
            check(Session::new(turns(40)), &request, &rows_of(40));
        }
    }
}

#[test]
fn newest_first_across_pages_and_forward_inside() {
    let mut session = Session::new(turns(40));
    let pages = session.walk(&PageRequest::default(), &|_| {});
    assert!(2 < pages.len());
    let first = rows(&pages[0]);
    assert_eq!(first.last().expect("has rows").text.as_deref(), Some("done 39"));
    for pair in pages.windows(2) {
        assert!(rows(&pair[1]).last().expect("has rows").seq < rows(&pair[0])[0].seq);
    }
    for page in &pages {
        assert!(page.prompts.is_sorted_by_key(|it| it.seq));
        assert!(page.tool_calls.is_sorted_by_key(|it| it.seq));
    }
    assert_eq!(pages[0].session.first_prompt.as_ref().expect("is there").text, "prompt 0");
}

#[test]
fn a_walk_is_pinned_while_the_session_grows_and_the_server_restarts() {
    let mut session = Session::new(turns(40));
    let request = PageRequest::default();
    let pages = session.walk(&request, &|session| {
        session.grow(turns(1));
        session.store = Store::open(session.dir.path()).expect("opens again");
    });
    let seen: Vec<u64> = pages.iter().flat_map(rows).map(|it| it.seq).collect();
    let unique: BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(seen.len(), unique.len());
    assert_eq!(unique, rows_of(40));
    assert!(pages.iter().all(|it| it.hydration.rows_total == 200));
}

#[test]
fn a_call_carries_its_result_wherever_that_stands() {
    let call = |id: &str| {
        let (call, tool, input) = (id.to_owned(), "Bash".to_owned(), "{}".to_owned());
        (Author::Model { name: None }, EventBody::ToolCall { call, tool, input })
    };
    let result = |id: &str, output: &str| {
        let (call, output) = (id.to_owned(), output.to_owned());
        (Author::Tool, EventBody::ToolResult { call, outcome: ToolOutcome::Failure, output })
    };
    let mut bodies = vec![call("a"), call("b"), result("b", "of b"), result("lost", "of nobody")];
    bodies.extend(turns(30));
    bodies.push(result("a", "of a, late"));
    // The same id again, and a result too many.
    bodies.extend([call("a"), result("a", "of the second a"), result("a", "of no third a")]);
    bodies.push(result("", "of an empty id"));
    let n = bodies.len() as u64;
    let mut session = Session::new(bodies);
    let pages = session.walk(&PageRequest::default(), &|_| {});
    let all: Vec<Row> = pages.iter().flat_map(rows).collect();
    let output = |seq: u64| {
        let row = all.iter().find(|it| it.seq == seq);
        row.unwrap_or_else(|| panic!("row {seq} is missing")).output.clone().unwrap_or_default()
    };
    assert_eq!(output(0), "of a, late");
    assert_eq!(output(1), "of b");
    assert_eq!(output(3), "of nobody");
    assert_eq!(output(n - 4), "of the second a");
    assert_eq!(output(n - 2), "of no third a");
    assert_eq!(output(n - 1), "of an empty id");
    let unique: BTreeSet<u64> = all.iter().map(|it| it.seq).collect();
    assert_eq!(unique.len(), all.len());
    assert_eq!(pages[0].hydration.rows_total, all.len() as u64);
}

#[test]
fn a_row_of_any_size_fits_the_smallest_page() {
    let huge = "\u{0}".repeat(300_000);
    let bodies = vec![
        (Author::Person, EventBody::Message { text: huge.clone() }),
        (
            Author::Tool,
            EventBody::FileEdit {
                call: None,
                path: huge.clone(),
                change: Change::Create,
                diff: huge.clone(),
            },
        ),
        (Author::Harness, EventBody::Plan { text: huge }),
    ];
    let request = PageRequest { max_bytes: Some(4_000), ..PageRequest::default() };
    check(Session::new(bodies), &request, &BTreeSet::from([0, 1, 2]));
}

#[test]
fn a_cut_says_what_is_missing_and_where_it_is() {
    let text = format!("head {} tail", "x".repeat(10_000));
    let session = Session::new(vec![(Author::Person, EventBody::Message { text })]);
    let page = session.page(&PageRequest::default()).expect("makes a page");
    let row = &page.prompts[0];
    let text = row.text.as_deref().expect("has words");
    assert!(row.truncated);
    assert!(text.starts_with("head ") && text.ends_with(" tail"));
    assert!(text.contains("bytes left out; get_session_events(event=0, offset=2666)"), "{text}");
}

#[test]
fn foreign_altered_and_outlived_cursors_are_refused() {
    let session = Session::new(turns(40));
    let page = session.page(&PageRequest::default()).expect("makes a page");
    let cursor = page.next_cursor.expect("has a next page");
    let refused = |session: &Session, cursor: String| {
        let request = PageRequest { cursor: Some(cursor), ..PageRequest::default() };
        session.page(&request).expect_err("is refused").code()
    };
    assert_eq!(refused(&session, format!("{cursor}AAAA")), ErrorCode::InvalidCursor);
    let mut altered = cursor.clone().into_bytes();
    altered[30] ^= 1;
    let altered = String::from_utf8_lossy(&altered).into_owned();
    assert_eq!(refused(&session, altered), ErrorCode::InvalidCursor);
    assert_eq!(refused(&session, String::new()), ErrorCode::InvalidCursor);
    // Another store has another secret, also for a session of the same name.
    assert_eq!(refused(&Session::new(turns(40)), cursor.clone()), ErrorCode::InvalidCursor);
    let request = PageRequest {
        cursor: Some(cursor.clone()),
        order: Some(Order::Oldest),
        ..PageRequest::default()
    };
    assert_eq!(session.page(&request).expect_err("is refused").code(), ErrorCode::InvalidCursor);
    // The workspace's session was replaced.
    let mut writer = session.store.writer().expect("connects");
    writer.clear_copy(&Session::origin(), &session.key).expect("clears");
    assert_eq!(refused(&session, cursor), ErrorCode::InvalidCursor);
}

#[test]
fn bounds_beyond_the_table_are_refused() {
    let session = Session::new(turns(1));
    for (limit, max_bytes) in [(Some(0), None), (Some(1_001), None), (None, Some(28_001))] {
        let request = PageRequest { limit, max_bytes, ..PageRequest::default() };
        let error = session.page(&request).expect_err("is refused");
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    }
}

#[test]
fn secrets_are_replaced_also_across_a_cut() {
    let secret = format!("ghp_{}", "aB3".repeat(12));
    // The cut of a prompt's head falls into the middle of the secret.
    let text = format!("{} {secret} {}", "x".repeat(2_650), "y".repeat(5_000));
    let session = Session::new(vec![(Author::Person, EventBody::Message { text })]);
    let page = session.page(&PageRequest::default()).expect("makes a page");
    let text = page.prompts[0].text.as_deref().expect("has words");
    assert!(!text.contains("ghp_a"), "{text}");
    assert!(text.contains("[redacted:"), "{text}");
}
