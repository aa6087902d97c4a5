//! A connector with a defect of choice, to prove that the promises catch it.
//!
//! It reads `~/notes/<session>.jsonl`, lines of the form `{"id":"1","say":"words"}`.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use ai_hist_connector::{
    AgentCommand, Availability, Budget, Capabilities, Connector, ConnectorError, ConnectorSpec,
    Discovery, Feed, FeedPlace, FeedReader, Host, Launch, OptionKind, OptionSpec, Settings, Start,
    Watch,
    jsonl::{self, LineBody, Tail},
    model::{
        AgentId, Author, Batch, ConnectorId, Cursor, Event, EventBody, FeedId, NativeEventKey,
        NativeSessionId, SessionFacts, SessionKey, Skipped, Tally, Title, TitleOrigin, Usage,
    },
    walk,
};
use serde_json::{Map, Value};

pub(crate) const FAKE: ConnectorSpec = ConnectorSpec {
    id: ConnectorId::from_static("fake"),
    display_name: "Fake",
    capabilities: Capabilities { resume: true, seed: false, workspace: false },
    options: &[OptionSpec { name: "defect", kind: OptionKind::Text, help: "What it does wrong." }],
    default_on: true,
    configure,
};

fn configure(settings: &Settings, host: &Host) -> Result<Availability, ConnectorError> {
    let defect = settings.text("defect").unwrap_or("none").to_owned();
    Ok(Availability::Ready(Box::new(Fake { notes: host.home.join("notes"), defect })))
}

#[derive(Debug)]
struct Fake {
    notes: PathBuf,
    defect: String,
}

impl Connector for Fake {
    fn discover(&self) -> Result<Discovery, ConnectorError> {
        let is_note = |it: &Path| it.extension().is_some_and(|it| it == "jsonl" || it == "zst");
        let mut found = walk::files(&self.notes, is_note).files;
        if self.defect == "lists in reverse" {
            found.reverse();
        }
        let feed = |path: PathBuf| Feed {
            id: FeedId(path.to_string_lossy().into_owned()),
            place: FeedPlace::AppendedFile(path),
            stamp: None,
        };
        let feeds = found.into_iter().map(|it| feed(it.0)).collect();
        Ok(Discovery { feeds, problems: Vec::new() })
    }

    fn open(
        &self,
        feed: &Feed,
        cursor: Option<&Cursor>,
    ) -> Result<Box<dyn FeedReader>, ConnectorError> {
        let path = feed.place.path().expect("every feed is a file");
        let mut start = None;
        let mut place = cursor;
        match self.defect.as_str() {
            "doubles at resume" if cursor.is_some() => {
                place = None;
                start = Some(Start::Continued);
            }
            "takes a rewritten file for the old one" if cursor.is_some() => {
                start = Some(Start::Continued);
            }
            "writes" => fs::write(self.notes.join("seen"), "1").expect("writes"),
            "reads a missing file as empty" if !path.exists() => {
                fs::write(path, "").expect("writes");
            }
            _ => {}
        }
        let tail = Tail::open(path, place)?;
        let start = start.unwrap_or(tail.start());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let native = NativeSessionId::parse(name.split('.').next().unwrap_or_default());
        let key = SessionKey { agent: AgentId::from_static("fake"), native: native.expect("fits") };
        let reader = Reader {
            key,
            tail,
            start,
            defect: self.defect.clone(),
            last: None,
            n_events: 0,
            is_told: false,
        };
        Ok(Box::new(reader))
    }

    fn locate(&self, _session: &SessionKey) -> Result<Vec<Feed>, ConnectorError> {
        let mut feeds = self.discover()?.feeds;
        if self.defect == "locates elsewhere" {
            feeds.truncate(1);
        }
        Ok(feeds)
    }

    fn command(&self, launch: &Launch<'_>) -> Result<AgentCommand, ConnectorError> {
        match launch {
            Launch::Resume(session) => {
                let args = vec![OsString::from("--resume"), session.native.as_str().into()];
                Ok(AgentCommand { program: "fake".into(), args, cwd: None })
            }
            Launch::Seed { prompt } if self.defect == "seeds undeclared" => {
                Ok(AgentCommand { program: "fake".into(), args: vec![prompt.into()], cwd: None })
            }
            Launch::Seed { .. } => Err(ConnectorError::Unsupported { what: "take a prompt" }),
        }
    }

    fn watch(&self) -> Watch {
        Watch::Paths(vec![self.notes.clone()])
    }
}

#[derive(Debug)]
struct Reader {
    key: SessionKey,
    tail: Tail,
    start: Start,
    defect: String,
    /// The cursor before the present one.
    last: Option<Cursor>,
    n_events: u64,
    is_told: bool,
}

impl FeedReader for Reader {
    fn start(&self) -> Start {
        self.start
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        if self.defect == "is off by one line" && self.last.is_none() {
            self.last = Some(self.tail.cursor());
        }
        let mut batch = Batch {
            sessions: vec![SessionFacts::about(self.key.clone())],
            events: Vec::new(),
            usage: Vec::new(),
            tally: Tally::default(),
            skipped: Vec::new(),
            raw: Vec::new(),
            cursor: Cursor::new(String::new()),
        };
        let mut is_full = false;
        while !is_full && self.line(&mut batch)? {
            let n_records = usize::try_from(batch.tally.records()).expect("few");
            is_full = budget.records <= n_records || budget.bytes <= self.tail.n_untaken();
            if self.defect == "ignores its budget" {
                is_full = false;
            }
        }
        if self.tail.n_untaken() == 0 {
            return Ok(None);
        }
        self.spoil(&mut batch, is_full);
        Ok(Some(batch))
    }

    fn rest(&self) -> &[u8] {
        if self.defect == "hides the rest" { &[] } else { self.tail.rest() }
    }
}

impl Reader {
    /// Reads one line. Whether there was one.
    fn line(&mut self, batch: &mut Batch) -> Result<bool, ConnectorError> {
        let n_bytes = self.tail.n_untaken();
        let Some(line) = self.tail.next_line()? else {
            return Ok(false);
        };
        let LineBody::Whole(bytes) = line.body else {
            return Ok(true);
        };
        let mut span = line.span;
        let text = jsonl::text(bytes);
        if text.is_empty() {
            return Ok(true);
        }
        let record = serde_json::from_str::<Map<String, Value>>(&text).unwrap_or_default();
        let word = |name: &str| record.get(name).and_then(Value::as_str);
        let (Some(id), Some(say)) = (word("id"), word("say")) else {
            if self.defect == "swallows a bad line" {
                *batch.tally.ignored.entry("bad".to_owned()).or_default() += 1;
            } else if self.defect != "forgets a bad line" {
                batch.tally.damaged += 1;
                let locator = format!("line {}", line.number);
                batch.skipped.push(Skipped { locator, reason: "not a note".to_owned() });
            }
            return Ok(true);
        };
        self.n_events += 1;
        let key = match self.defect.as_str() {
            "counts from where it begins" => self.n_events.to_string(),
            "has one name for all" => "event".to_owned(),
            _ => id.to_owned(),
        };
        if self.defect == "places by batch" {
            span.first_byte = n_bytes as u64;
        }
        let body = EventBody::Message { text: say.to_owned() };
        let session = self.key.id();
        let key = NativeEventKey(key);
        batch.events.push(Event::new(session, &key, None, Author::Person, body, span));
        batch.usage.push(Usage {
            session,
            key: id.to_owned(),
            model: None,
            at: None,
            input: 1,
            cache_read: 0,
            cache_write: 0,
            output: say.len() as u64,
        });
        *batch.tally.understood.entry("note".to_owned()).or_default() += 1;
        Ok(true)
    }

    fn spoil(&mut self, batch: &mut Batch, is_full: bool) {
        batch.raw = self.tail.take_raw();
        batch.cursor = self.tail.cursor();
        match self.defect.as_str() {
            "loses an event at a batch's end" if is_full && 1 < batch.events.len() => {
                batch.events.pop();
            }
            "gives other bytes" => {
                batch.raw.pop();
            }
            "is off by one line" => {
                let now = batch.cursor.clone();
                batch.cursor = self.last.replace(now).expect("is set");
            }
            "names no session" => batch.sessions.clear(),
            "titles by batch" => {
                let text = format!("{} notes", batch.events.len());
                batch.sessions[0].title = Some(Title { text, origin: TitleOrigin::Generated });
            }
            "knows its session from the beginning only" => {
                if self.start == Start::Continued && !self.is_told {
                    batch.events.clear();
                }
                self.is_told = true;
            }
            _ => {}
        }
    }
}
