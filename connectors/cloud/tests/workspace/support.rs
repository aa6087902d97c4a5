//! Members of workspaces, and sessions to share.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ai_hist_connector::{
    Availability, Budget, Connector, ConnectorError, Feed, FeedReader, Head, Host, Push, Settings,
    Start,
    model::{
        AgentId, Author, Batch, Cursor, Event, EventBody, NativeEventKey, NativeSessionId,
        SessionFacts, SessionKey, Span, Timestamp,
    },
};
use ai_hist_connector_cloud::CONNECTOR;
use serde_json::{Map, Value};
use tempfile::TempDir;

pub(crate) const EVERYTHING: Budget = Budget { records: usize::MAX, bytes: usize::MAX };
pub(crate) const ONE_RECORD: Budget = Budget { records: 1, bytes: usize::MAX };

pub(crate) struct Place {
    _root: TempDir,
    pub(crate) folder: PathBuf,
}

impl Place {
    /// A folder that is not there yet.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("makes a folder");
        Self { folder: root.path().join("team"), _root: root }
    }

    pub(crate) fn member(&self) -> Member {
        Member::of(&self.folder, "team")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("workspace.db")
    }

    /// Does to the database what no member does.
    pub(crate) fn spoil(&self, sql: &str) {
        let db = rusqlite::Connection::open(self.file()).expect("opens");
        let n_rows = db.execute(sql, []).expect("executes");
        assert!(0 < n_rows, "`{sql}` finds its rows");
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        let db = rusqlite::Connection::open(self.file()).expect("opens");
        db.query_row(sql, [], |row| row.get(0)).expect("counts")
    }
}

/// A connector of one member.
pub(crate) struct Member(pub(crate) Box<dyn Connector>);

impl Member {
    pub(crate) fn of(folder: &Path, workspace: &str) -> Self {
        let option = |it: &str| Value::String(it.to_owned());
        let options = Map::from_iter([
            ("path".to_owned(), option(folder.to_str().expect("is text"))),
            ("workspace".to_owned(), option(workspace)),
        ]);
        let host = Host { home: PathBuf::from("/nowhere"), vars: BTreeMap::new() };
        match (CONNECTOR.configure)(&Settings(options), &host).expect("configures") {
            Availability::Ready(connector) => Self(connector),
            Availability::Absent(why) => panic!("absent: {why}"),
        }
    }

    pub(crate) fn head(&self, session: &SessionKey) -> Result<Option<Head>, ConnectorError> {
        self.0.workspace().expect("is a workspace").head(session)
    }

    pub(crate) fn push(&self, first_seq: u64, events: &[Event]) -> Result<Head, ConnectorError> {
        self.push_of(&facts("s-1"), first_seq, events)
    }

    pub(crate) fn push_of(
        &self,
        facts: &SessionFacts,
        first_seq: u64,
        events: &[Event],
    ) -> Result<Head, ConnectorError> {
        let now = Timestamp(1_700_000_000_000);
        let push = Push { facts, first_seq, events, now };
        self.0.workspace().expect("is a workspace").push(&push)
    }

    pub(crate) fn feed(&self, session: &SessionKey) -> Feed {
        let mut feeds = self.0.locate(session).expect("locates");
        assert_eq!(feeds.len(), 1, "{session} is one feed");
        feeds.remove(0)
    }

    pub(crate) fn open(&self, cursor: Option<&Cursor>) -> Box<dyn FeedReader> {
        let feed = self.feed(&key("s-1"));
        self.0.open(&feed, cursor).expect("opens")
    }

    /// Everything there is of `s-1`.
    pub(crate) fn read(&self) -> Reading {
        self.read_from(None, EVERYTHING).expect("reads")
    }

    pub(crate) fn read_from(
        &self,
        cursor: Option<&Cursor>,
        budget: Budget,
    ) -> Result<Reading, ConnectorError> {
        let feed = self.feed(&key("s-1"));
        let mut reader = self.0.open(&feed, cursor)?;
        let mut reading = Reading { start: reader.start(), batches: Vec::new() };
        while let Some(batch) = reader.next_batch(budget)? {
            reading.batches.push(batch);
        }
        assert!(reader.rest().is_empty());
        Ok(reading)
    }
}

pub(crate) struct Reading {
    pub(crate) start: Start,
    pub(crate) batches: Vec<Batch>,
}

impl Reading {
    /// The events, without the places where they stand, which no event has before it is pushed.
    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.batches.iter().flat_map(|it| it.events.iter().cloned());
        events.map(|it| Event { span: SPAN, ..it }).collect()
    }

    pub(crate) fn cursor(&self) -> &Cursor {
        &self.batches.last().expect("has a batch").cursor
    }

    pub(crate) fn raw(&self) -> Vec<u8> {
        self.batches.iter().flat_map(|it| it.raw.iter().copied()).collect()
    }

    pub(crate) fn facts(&self) -> &SessionFacts {
        &self.batches.last().expect("has a batch").sessions[0]
    }
}

pub(crate) const SPAN: Span = Span { first_byte: 0, n_bytes: 0 };

pub(crate) fn key(native: &str) -> SessionKey {
    let native = NativeSessionId::parse(native).expect("is harmless");
    SessionKey { agent: AgentId::from_static("claude"), native }
}

pub(crate) fn facts(native: &str) -> SessionFacts {
    SessionFacts { cwd: Some("/home/dev/demo".to_owned()), ..SessionFacts::about(key(native)) }
}

/// An event of session `s-1`.
pub(crate) fn event(name: &str, body: EventBody) -> Event {
    let author = Author::Model { name: Some("m-1".to_owned()) };
    let name = NativeEventKey(name.to_owned());
    Event::new(key("s-1").id(), &name, Some(Timestamp(7)), author, body, SPAN)
}

/// Events of session `s-1` that are named `<branch>-<number>`.
pub(crate) fn events(branch: &str, numbers: std::ops::Range<usize>) -> Vec<Event> {
    let text = |i: usize| format!("{branch} {i} {}", "word ".repeat(i % 7));
    let one = |i: usize| event(&format!("{branch}-{i}"), EventBody::Message { text: text(i) });
    numbers.map(one).collect()
}
