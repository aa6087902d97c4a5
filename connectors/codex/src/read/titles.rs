//! The names of threads: `session_index.jsonl`.
//!
//! A line is appended whenever a thread is named, and the last one stands. A thread without a
//! rollout has no session to name; when its rollout appears, the file is read again from its
//! beginning, the next time that it changes.

use std::{collections::BTreeSet, path::Path};

use ai_hist_connector::{
    ConnectorError, Start,
    jsonl::{self, LineBody, Tail},
    model::{NativeSessionId, SessionFacts, Title, TitleOrigin},
};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    envelope::damage,
    json::{Json, Malformed},
    ledger::{Fate, Page},
    words::text,
};
use crate::session_key;

/// Reads names of threads.
#[derive(Debug)]
pub(super) struct Titles {
    /// The threads that have a rollout.
    threads: BTreeSet<NativeSessionId>,
    /// Which threads had no rollout, as a sum of hashes.
    missing: u64,
}

/// A thread and its name, both as the line has them.
struct Named {
    thread: Option<NativeSessionId>,
    title: String,
}

impl Titles {
    /// Goes on where `tail` is, or from its beginning if a thread that had no rollout has one now.
    pub(super) fn resume(
        path: &Path,
        tail: &mut Tail,
        threads: BTreeSet<NativeSessionId>,
        n_lines: u64,
        said: &str,
    ) -> Result<Self, ConnectorError> {
        let mut titles = Self { threads, missing: 0 };
        if tail.start() == Start::Restarted {
            return Ok(titles);
        }
        titles.read_again(path, n_lines)?;
        if u64::from_str_radix(said, 16) != Ok(titles.missing) {
            *tail = Tail::open(path, None)?;
            titles.missing = 0;
        }
        Ok(titles)
    }

    /// Looks which threads of the first lines have a rollout now.
    fn read_again(&mut self, path: &Path, n_lines: u64) -> Result<(), ConnectorError> {
        let mut tail = Tail::open(path, None)?;
        while let Some(line) = tail.next_line()?
            && line.number <= n_lines
        {
            if let LineBody::Whole(bytes) = line.body {
                self.read(&jsonl::text(bytes), &mut Page::default());
            }
            tail.take_raw();
        }
        Ok(())
    }

    pub(super) fn read(&mut self, line: &str, page: &mut Page) -> Fate {
        let Ok(Named { thread, title }) = named(line) else {
            return Fate::Damaged(damage(line));
        };
        let Some(thread) = thread else {
            return Fate::Damaged("names no thread".to_owned());
        };
        if !self.threads.contains(&thread) {
            self.missing = self.missing.wrapping_add(xxh3_64(thread.as_str().as_bytes()));
            return Fate::Ignored("session_index/no-rollout");
        }
        if title.is_empty() {
            return Fate::Ignored("session_index/empty");
        }
        let mut facts = SessionFacts::about(session_key(thread));
        facts.title = Some(Title { text: title, origin: TitleOrigin::Person });
        page.sessions.push(facts);
        Fate::Understood("session_index")
    }

    pub(super) fn words(&self) -> String {
        format!("{:x}", self.missing)
    }
}

fn named(line: &str) -> Result<Named, Malformed> {
    let (_, [id, name]) = Json::object(line, ["id", "thread_name"])?;
    let thread = NativeSessionId::parse(&text(id)?);
    Ok(Named { thread, title: text(name)?.trim().to_owned() })
}
