//! What a recording says, as text for people: `events.txt`, which is reviewed like code.

use std::{collections::BTreeMap, collections::HashMap, fmt::Write as _, fs};

use ai_hist_connector::{
    Feed,
    model::{
        Author, Event, EventBody, Relation, SessionFacts, SessionId, SessionKey, Timestamp,
        TitleOrigin, Usage,
    },
};

use crate::{
    promises::Stage,
    reading::{EVERYTHING, Reading, reading},
};

/// How much of a text is shown. Enough to know it by; the rest is its length.
const SHOWN_CHARS: usize = 100;

pub(crate) fn the_golden_text_matches(stage: &Stage<'_>) -> Result<(), String> {
    let mut actual = String::new();
    for feed in stage.feeds()? {
        let reading = reading(&*stage.connector, &feed, EVERYTHING)?;
        actual.push_str(&Golden::new(&reading).feed(&feed));
    }
    let actual = actual.replace(&*stage.machine.host.home.to_string_lossy(), "~");
    let path = stage.recording.golden_path();
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    fs::write(&path, &actual).map_err(|error| format!("cannot write `events.txt`: {error}"))?;
    Err(format!(
        "`events.txt` was out of date and has been rewritten; read the change and commit it{}",
        first_difference(&expected, &actual)
    ))
}

struct Golden<'a> {
    reading: &'a Reading,
    /// The agents' own names of the sessions.
    names: HashMap<SessionId, &'a SessionKey>,
    out: String,
}

impl<'a> Golden<'a> {
    fn new(reading: &'a Reading) -> Self {
        let names = reading.facts.keys().map(|it| (it.id(), it)).collect();
        Self { reading, names, out: String::new() }
    }

    fn feed(mut self, feed: &Feed) -> String {
        let _ = writeln!(self.out, "feed {}", feed.id);
        for facts in self.reading.facts.values() {
            self.facts(facts);
        }
        for event in &self.reading.events {
            self.event(event);
        }
        for usage in &self.reading.usage {
            self.usage(usage);
        }
        for skipped in &self.reading.skipped {
            let _ = writeln!(self.out, "  skipped {}: {}", skipped.locator, skipped.reason);
        }
        self.tally();
        self.out
    }

    fn facts(&mut self, facts: &SessionFacts) {
        let _ = writeln!(self.out, "  session {}", facts.key);
        let title =
            facts.title.as_ref().map(|it| format!("{} (by {})", it.text, origin(it.origin)));
        let lineage = facts.lineage.as_ref();
        let lineage = lineage.map(|it| format!("{} {}", relation(it.relation), it.parent));
        for (name, value) in [
            ("title", &title),
            ("cwd", &facts.cwd),
            ("branch", &facts.git_branch),
            ("commit", &facts.git_commit),
            ("remote", &facts.git_remote),
            ("version", &facts.agent_version),
            ("originator", &facts.originator),
            ("nickname", &facts.nickname),
            ("lineage", &lineage),
        ] {
            if let Some(value) = value {
                let _ = writeln!(self.out, "    {name}: {}", excerpt(value));
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let line = self.line(event.span.first_byte);
        let kind = event.kind().as_str();
        let _ = write!(self.out, "  {line}{} {kind} {}", time(event.at), author(&event.author));
        self.session(event.session);
        let (subject, text) = parts(&event.body);
        if !subject.is_empty() {
            let _ = write!(self.out, " {}", escaped(&subject));
        }
        let _ = writeln!(self.out, ": {}", excerpt(text));
    }

    fn usage(&mut self, usage: &Usage) {
        let Usage { key, model, input, cache_read, cache_write, output, .. } = usage;
        let _ = write!(self.out, "  usage {key}{}", time(usage.at));
        self.session(usage.session);
        if let Some(model) = model {
            let _ = write!(self.out, " {model}");
        }
        let _ = writeln!(
            self.out,
            ": input {input}, cache read {cache_read}, cache write {cache_write}, output {output}"
        );
    }

    fn tally(&mut self) {
        let tally = &self.reading.tally;
        let mut line = |class: &str, kinds: &BTreeMap<String, u64>| {
            if !kinds.is_empty() {
                let kinds: Vec<String> =
                    kinds.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
                let _ = writeln!(self.out, "  {class}: {}", kinds.join(", "));
            }
        };
        line("understood", &tally.understood);
        line("ignored", &tally.ignored);
        line("unknown", &tally.unknown);
        if 0 < tally.damaged {
            let _ = writeln!(self.out, "  damaged: {}", tally.damaged);
        }
        if !self.reading.rest.is_empty() {
            let _ = writeln!(self.out, "  rest: {} bytes", self.reading.rest.len());
        }
    }

    /// Names the session where the feed has several.
    fn session(&mut self, session: SessionId) {
        if 1 < self.names.len()
            && let Some(key) = self.names.get(&session)
        {
            let _ = write!(self.out, " <{}>", key.native);
        }
    }

    fn line(&self, first_byte: u64) -> usize {
        let before = usize::try_from(first_byte).unwrap_or(usize::MAX).min(self.reading.raw.len());
        self.reading.raw[..before].split(|it| *it == b'\n').count()
    }
}

fn time(at: Option<Timestamp>) -> String {
    let Some(Timestamp(at)) = at else {
        return String::new();
    };
    match jiff::Timestamp::from_millisecond(at) {
        Ok(at) => format!(" {at}"),
        Err(_) => format!(" {at}ms"),
    }
}

fn author(author: &Author) -> String {
    match author {
        Author::Person => "person".to_owned(),
        Author::Model { name: Some(name) } => format!("model[{name}]"),
        Author::Model { name: None } => "model".to_owned(),
        Author::Tool => "tool".to_owned(),
        Author::Agent => "agent".to_owned(),
        Author::Harness => "harness".to_owned(),
    }
}

/// What an event is about, and its text.
fn parts(body: &EventBody) -> (String, &str) {
    match body {
        EventBody::Message { text } | EventBody::Reasoning { text } | EventBody::Plan { text } => {
            (String::new(), text)
        }
        EventBody::ToolCall { call, tool, input } => (format!("{tool} <{call}>"), input),
        EventBody::ToolResult { call, outcome, output } => {
            (format!("{} <{call}>", outcome.as_str()), output)
        }
        EventBody::FileEdit { call, path, change, diff } => {
            let call = call.as_ref().map(|it| format!(" <{it}>")).unwrap_or_default();
            (format!("{} {path}{call}", change.as_str()), diff)
        }
        EventBody::Compaction { summary } => (String::new(), summary),
        EventBody::Marker { name, text } => (name.clone(), text),
        EventBody::Unknown { kind, text } => (kind.clone(), text),
    }
}

const fn origin(origin: TitleOrigin) -> &'static str {
    match origin {
        TitleOrigin::Summary => "summary",
        TitleOrigin::Generated => "model",
        TitleOrigin::Person => "person",
    }
}

const fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::SubAgent => "sub-agent of",
        Relation::Fork => "fork of",
    }
}

/// The beginning of a text's first line, and how long the text is if that is not all.
fn excerpt(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let end = first.char_indices().nth(SHOWN_CHARS).map_or(first.len(), |it| it.0);
    let mut out = escaped(&first[..end]);
    if end < text.len() {
        let _ = write!(out, " … [{} bytes]", text.len());
    }
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

fn first_difference(expected: &str, actual: &str) -> String {
    let (mut old, mut new) = (expected.lines(), actual.lines());
    let mut number = 1;
    loop {
        match (old.next(), new.next()) {
            (None, None) => return String::new(),
            (a, b) if a == b => number += 1,
            (a, b) => {
                let [a, b] = [a, b].map(|it| it.unwrap_or("(end)"));
                return format!("\n    first at line {number}\n    - {a}\n    + {b}");
            }
        }
    }
}
