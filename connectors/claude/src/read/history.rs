//! Reads the history of prompts, for those whose session left no transcript.
//!
//! The agent deletes transcripts after some weeks and keeps this file. A prompt that stands in a
//! transcript is not told again. Whether there is a transcript is looked at when the line is read,
//! once:
//!
//! | the prompt's session | the line |
//! |---|---|
//! | has a transcript | is ignored; when the transcript is deleted later, the archive has it |
//! | has none, and the line is old | is told |
//! | has none, and the line is young | waits: the transcript may be about to be made |
//! | whatever, but the line was read before the file was rewritten | is ignored |
//!
//! "Young" is told from the time the file was last written, which is that of its newest line: so a
//! line that waits is read when the next prompt has been typed.

mod coverage;
mod entry;

use std::{borrow::Cow, collections::HashSet, mem, path::Path};

use ai_hist_connector::{
    Budget, ConnectorError, Feed, FeedReader, Start,
    jsonl::{self, LineBody, Tail},
    model::{
        Author, Batch, Cursor, Event, NativeEventKey, SessionFacts, SessionId, SessionKey, Span,
        Timestamp, Title, TitleOrigin,
    },
};
use xxhash_rust::xxh3::xxh3_128;

use self::{
    coverage::Coverage,
    entry::{Entry, Pastes},
};
use super::{
    Scalar,
    scribe::{Fate, Page},
};
use crate::{
    discover::Roots,
    identity::{self, HISTORY},
    limits::MIN_HISTORY_AGE_MS,
};

/// One pass over the history of prompts.
#[derive(Debug)]
pub(crate) struct History {
    tail: Tail,
    teller: Teller,
    /// After the last line that was taken.
    place: Cursor,
    raw: Vec<u8>,
    /// The lines that wait. There are some only at the end of a pass.
    waiting: Option<Vec<u8>>,
}

/// Tells of prompts.
#[derive(Debug)]
struct Teller {
    coverage: Coverage,
    pastes: Pastes,
    /// When the file was last written.
    written: Option<Timestamp>,
    /// Up to which time prompts were read before the file was rewritten.
    known_until: Option<Timestamp>,
    /// The time of the newest prompt that was read.
    newest: Option<Timestamp>,
    stated: HashSet<SessionId>,
    sessions: Vec<SessionFacts>,
    page: Page,
}

/// What becomes of a line.
enum Verdict {
    /// It is read.
    Read(Fate),
    /// It, and what follows it, is left for a later pass.
    Waits,
}

impl History {
    /// Opens the history that `feed` names. The file may be a copy of it, at `path`.
    pub(crate) fn open(
        feed: &Feed,
        path: &Path,
        roots: &Roots,
        cursor: Option<&Cursor>,
    ) -> Result<Self, ConnectorError> {
        let (place, newest) = cursor.map(parts).unwrap_or_default();
        let tail = Tail::open(path, place.as_ref())?;
        let is_rewritten = tail.start() == Start::Restarted;
        let teller = Teller {
            coverage: Coverage::of(roots.clone()),
            pastes: Pastes::beside(Path::new(&feed.id.0)),
            written: feed.stamp.map(|it| it.modified_ms).filter(|it| *it != 0).map(Timestamp),
            known_until: newest.filter(|_| is_rewritten),
            newest,
            stated: HashSet::new(),
            sessions: Vec::new(),
            page: Page::default(),
        };
        let place = tail.cursor();
        Ok(Self { tail, teller, place, raw: Vec::new(), waiting: None })
    }

    /// Takes the bytes of the lines that were given out.
    fn take_raw(&mut self) {
        self.raw.extend(self.tail.take_raw());
        self.place = self.tail.cursor();
    }
}

impl FeedReader for History {
    fn start(&self) -> Start {
        self.tail.start()
    }

    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError> {
        let mut n_records = 0;
        while self.waiting.is_none() && n_records < budget.records && self.raw.len() < budget.bytes
        {
            let Some(line) = self.tail.next_line()? else {
                break;
            };
            let number = line.number;
            let verdict = match line.body {
                LineBody::Whole(bytes) => self.teller.read(bytes, number, line.span),
                LineBody::Piece => {
                    self.take_raw();
                    continue;
                }
                LineBody::TooLong => {
                    Verdict::Read(Fate::Damaged("the line is too long".to_owned()))
                }
            };
            match verdict {
                Verdict::Read(fate) => {
                    n_records += 1;
                    self.teller.page.count(number, fate);
                    self.take_raw();
                }
                Verdict::Waits => self.waiting = Some(self.tail.set_aside()?),
            }
        }
        if self.waiting.is_none() && self.tail.n_untaken() != 0 {
            self.take_raw();
        }
        if n_records == 0 && self.raw.is_empty() {
            return Ok(None);
        }
        let Page { events, usage, tally, skipped, .. } = self.teller.page.take();
        let sessions = mem::take(&mut self.teller.sessions);
        let raw = mem::take(&mut self.raw);
        let cursor = cursor(&self.place, self.teller.newest);
        Ok(Some(Batch { sessions, events, usage, tally, skipped, raw, cursor }))
    }

    fn rest(&self) -> &[u8] {
        self.waiting.as_deref().unwrap_or_else(|| self.tail.rest())
    }
}

impl Teller {
    fn read(&mut self, bytes: &[u8], number: u64, span: Span) -> Verdict {
        let text = jsonl::text(bytes);
        if text.is_empty() {
            return Verdict::Read(Fate::Ignored(Cow::Borrowed("blank")));
        }
        let repaired;
        let entry = match serde_json::from_str::<Entry<'_>>(&text) {
            Ok(entry) => entry,
            Err(error) => {
                repaired = jsonl::repair(&text);
                let entry = repaired.as_deref().and_then(|it| serde_json::from_str(it).ok());
                let Some(entry) = entry else {
                    return Verdict::Read(Fate::Damaged(error.to_string()));
                };
                entry
            }
        };
        let at = entry.timestamp.time();
        if at.is_some() && at <= self.known_until {
            return ignored("history/read-before");
        }
        let pastes = self.pastes.of(&entry);
        let words = match &entry.display {
            Scalar::Words(words) if words.trim().is_empty() && pastes.is_empty() => {
                return ignored("history/empty");
            }
            Scalar::Words(words) => words,
            Scalar::Absent | Scalar::Flag(_) | Scalar::Whole(_) => {
                return Verdict::Read(Fate::Damaged("a prompt without its words".to_owned()));
            }
        };
        let project = entry.project.words();
        let session = entry.session_id.words().and_then(identity::parse);
        let is_in_transcript = match &session {
            Some(session) => self.coverage.has(session.as_str(), project),
            None => self.coverage.covers(project, at),
        };
        if !is_in_transcript && self.is_young(at) {
            return Verdict::Waits;
        }
        self.newest = self.newest.max(at);
        if is_in_transcript {
            return ignored("history/in-transcript");
        }
        let session = match session {
            Some(session) => self.session(identity::key(session), project, None),
            None => self.session(
                identity::of_project(project.unwrap_or_default()),
                project,
                Some(title(project)),
            ),
        };
        let body = entry::body(words, &pastes);
        let key = key(&text, at, number);
        self.page.events.push(Event::new(session, &key, at, Author::Person, body, span));
        Verdict::Read(Fate::Understood(Cow::Borrowed("history")))
    }

    /// Whether a prompt was typed so short a time ago that its transcript may not be there yet.
    fn is_young(&self, at: Option<Timestamp>) -> bool {
        let age = self.written.zip(at).map(|(written, at)| written.0.saturating_sub(at.0));
        // A file that is older than its lines was copied, and its time says nothing.
        age.is_some_and(|it| (-MIN_HISTORY_AGE_MS..MIN_HISTORY_AGE_MS).contains(&it))
    }

    /// The id of a session, which is stated once in a pass.
    fn session(
        &mut self,
        key: SessionKey,
        project: Option<&str>,
        title: Option<Title>,
    ) -> SessionId {
        let id = key.id();
        if self.stated.insert(id) {
            let cwd = project.map(str::to_owned);
            self.sessions.push(SessionFacts { cwd, title, ..SessionFacts::about(key) });
        }
        id
    }
}

fn ignored(kind: &'static str) -> Verdict {
    Verdict::Read(Fate::Ignored(Cow::Borrowed(kind)))
}

/// The title of prompts that have no session: it says what they are.
fn title(project: Option<&str>) -> Title {
    let text = match project {
        Some(project) => format!("Prompts typed in {project}, of sessions that are gone"),
        None => "Prompts of sessions that are gone".to_owned(),
    };
    Title { text, origin: TitleOrigin::Summary }
}

/// The name of the prompt in `line`: made of its bytes, and of its place if it has no time.
fn key(line: &str, at: Option<Timestamp>, number: u64) -> NativeEventKey {
    let hash = xxh3_128(line.as_bytes());
    NativeEventKey(match at {
        Some(_) => format!("{HISTORY}:{hash:032x}"),
        None => format!("{HISTORY}:{hash:032x}@{number}"),
    })
}

/// A place in the file, with the time of the newest prompt before it.
fn cursor(place: &Cursor, newest: Option<Timestamp>) -> Cursor {
    match newest {
        Some(newest) => Cursor::new(format!("{} {}", place.as_str(), newest.0)),
        None => place.clone(),
    }
}

fn parts(cursor: &Cursor) -> (Option<Cursor>, Option<Timestamp>) {
    match cursor.as_str().split_once(' ') {
        Some((place, newest)) => {
            (Some(Cursor::new(place.to_owned())), newest.parse().ok().map(Timestamp))
        }
        None => (Some(cursor.clone()), None),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::PathBuf};

    use ai_hist_connector::{Host, Settings};

    use super::*;

    const ONE: &str = "11111111-1111-4111-8111-111111111111";
    const MANY: Budget = Budget { records: 1000, bytes: 1_000_000 };

    /// A machine with a history of prompts, and a cursor into it.
    struct Machine {
        home: tempfile::TempDir,
        cursor: Option<Cursor>,
        written: i64,
    }

    /// What a pass gave.
    #[derive(Debug, PartialEq, Eq)]
    struct Given {
        texts: Vec<String>,
        ignored: Vec<String>,
        rest: usize,
    }

    fn given(texts: &[&str], ignored: &[&str], rest: usize) -> Given {
        let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        Given { texts: owned(texts), ignored: owned(ignored), rest }
    }

    impl Machine {
        fn new() -> Self {
            let home = tempfile::tempdir().expect("makes a folder");
            fs::create_dir_all(home.path().join(".claude/projects/-p")).expect("makes folders");
            Self { home, cursor: None, written: 0 }
        }

        fn path(&self) -> PathBuf {
            self.home.path().join(".claude").join(HISTORY)
        }

        fn transcript(&self) -> PathBuf {
            self.home.path().join(format!(".claude/projects/-p/{ONE}.jsonl"))
        }

        /// The person types prompts, each at a minute.
        fn write(&mut self, prompts: &[(&str, i64)]) {
            let line = |(display, minute): &(&str, i64)| {
                let at = minute * 60_000;
                format!(
                    "{{\"display\":\"{display}\",\"timestamp\":{at},\"project\":\"/p\",\"sessionId\":\"{ONE}\"}}\n"
                )
            };
            let lines: Vec<String> = prompts.iter().map(line).collect();
            fs::write(self.path(), lines.concat()).expect("writes");
            self.written = prompts.last().map_or(0, |it| it.1 * 60_000);
        }

        fn read(&mut self) -> Given {
            let host = Host { home: self.home.path().to_owned(), vars: BTreeMap::new() };
            let roots = Roots::of(&Settings::default(), &host);
            let mut feed = roots.discover().feeds.remove(0);
            let stamp = feed.stamp.as_mut().expect("has a stamp");
            stamp.modified_ms = self.written;
            let mut history =
                History::open(&feed, &self.path(), &roots, self.cursor.as_ref()).expect("opens");
            let mut given = given(&[], &[], 0);
            while let Some(batch) = history.next_batch(MANY).expect("reads") {
                given.texts.extend(batch.events.iter().map(|it| it.body.text().to_owned()));
                given.ignored.extend(batch.tally.ignored.into_keys());
                self.cursor = Some(batch.cursor);
            }
            given.rest = history.rest().split_inclusive(|it| *it == b'\n').count();
            given
        }
    }

    #[test]
    fn a_young_prompt_waits_for_its_transcript_and_is_told_if_none_comes() {
        let mut machine = Machine::new();
        machine.write(&[("a", 1), ("b", 100)]);
        assert_eq!(machine.read(), given(&["a"], &[], 1));
        assert_eq!(machine.read(), given(&[], &[], 1), "nothing has changed");
        machine.write(&[("a", 1), ("b", 100), ("c", 106), ("d", 115)]);
        assert_eq!(machine.read(), given(&["b"], &[], 2));
        fs::write(machine.transcript(), "").expect("writes");
        assert_eq!(machine.read(), given(&[], &["history/in-transcript"], 0));
    }

    #[test]
    fn a_transcript_that_is_deleted_later_changes_nothing() {
        let mut machine = Machine::new();
        fs::write(machine.transcript(), "").expect("writes");
        machine.write(&[("a", 1), ("b", 2)]);
        assert_eq!(machine.read(), given(&[], &["history/in-transcript"], 0));
        fs::remove_file(machine.transcript()).expect("removes");
        assert_eq!(machine.read(), given(&[], &[], 0));
        machine.write(&[("b", 2), ("c", 3), ("d", 100)]);
        let rewritten = machine.read();
        assert_eq!(rewritten, given(&["c"], &["history/read-before"], 1), "rewritten");
    }

    #[test]
    fn a_file_that_is_older_than_its_lines_does_not_make_them_wait() {
        let mut machine = Machine::new();
        machine.write(&[("a", 100)]);
        machine.written = 60_000;
        assert_eq!(machine.read(), given(&["a"], &[], 0));
    }
}
