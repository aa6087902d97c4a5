//! What was typed: `history.jsonl`, for the prompts of threads whose rollout is gone.
//!
//! A prompt that stands in a rollout is not told again. Whether its thread has a rollout is looked
//! at when the line is read, once:
//!
//! | the prompt's thread | the line |
//! |---|---|
//! | has a rollout | is ignored; if the rollout is deleted later, the archive has it |
//! | has none, and the line is old | is told |
//! | has none, and the line is young | waits: rollouts are made lazily, this one may still come |
//! | whatever, but the line was read before the file was rewritten | is ignored |
//!
//! "Young" is told from the time at which the file was last written, which is that of its newest
//! line. So a line that waits is looked at again when another prompt has been typed.

use std::collections::BTreeSet;

use ai_hist_connector::model::{
    Author, Event, EventBody, NativeEventKey, NativeSessionId, SessionFacts, Span, Timestamp,
};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    envelope::damage,
    json::{Json, Malformed},
    ledger::{Fate, Page},
    words::text,
};
use crate::{
    limits::{MIN_HISTORY_AGE_MS, MIN_MILLISECONDS},
    session_key,
};

/// Reads prompts.
#[derive(Debug)]
pub(super) struct Prompts {
    /// The threads that have a rollout.
    threads: BTreeSet<NativeSessionId>,
    /// When the file was last written, in milliseconds.
    written: Option<i64>,
    /// Up to which time prompts were read before the file was rewritten.
    known_until: Option<i64>,
    /// The time of the newest prompt that was read.
    newest: Option<i64>,
    /// The time of the last prompt, and how many in a row had it.
    run: Option<(i64, u32)>,
}

struct Typed {
    thread: Option<NativeSessionId>,
    at: Option<i64>,
    text: String,
}

impl Prompts {
    pub(super) fn resume(
        threads: BTreeSet<NativeSessionId>,
        written: Option<i64>,
        is_rewritten: bool,
        said: &str,
    ) -> Self {
        let (newest, run) = said.split_once('|').unwrap_or_default();
        let newest = newest.parse().ok();
        let run = run.split_once('.').and_then(|it| Some((it.0.parse().ok()?, it.1.parse().ok()?)));
        Self {
            threads,
            written,
            known_until: newest.filter(|_| is_rewritten),
            newest,
            run: run.filter(|_| !is_rewritten),
        }
    }

    pub(super) fn read(&mut self, line: &str, span: Span, page: &mut Page) -> Fate {
        let Ok(Typed { thread, at, text }) = typed(line) else {
            return Fate::Damaged(damage(line));
        };
        let Some(thread) = thread else {
            return Fate::Damaged("names no thread".to_owned());
        };
        let is_known = at.is_some() && at <= self.known_until;
        let is_covered = self.threads.contains(&thread);
        if !is_known && !is_covered && self.is_young(at) {
            return Fate::Waits;
        }
        let nth = self.count(at);
        if is_known {
            return Fate::Ignored("history/read-before");
        }
        if is_covered {
            return Fate::Ignored("history/in-rollout");
        }
        if text.trim().is_empty() {
            return Fate::Ignored("history/empty");
        }
        // Its place among those of its time tells apart what is byte for byte the same.
        let key = NativeEventKey(format!("h{:032x}.{nth}", xxh3_128(line.as_bytes())));
        let facts = SessionFacts::about(session_key(thread));
        let (session, at) = (facts.key.id(), at.map(Timestamp));
        let body = EventBody::Message { text };
        page.events.push(Event::new(session, &key, at, Author::Person, body, span));
        if !page.sessions.contains(&facts) {
            page.sessions.push(facts);
        }
        Fate::Understood("history")
    }

    pub(super) fn words(&self) -> String {
        let newest = self.newest.map(|it| it.to_string()).unwrap_or_default();
        let run = self.run.map(|(time, n)| format!("{time}.{n}")).unwrap_or_default();
        format!("{newest}|{run}")
    }

    fn is_young(&self, at: Option<i64>) -> bool {
        let (Some(at), Some(written)) = (at, self.written) else {
            return false;
        };
        written.saturating_sub(at) < MIN_HISTORY_AGE_MS
    }

    /// Counts a prompt, and gives its place among those of its time.
    fn count(&mut self, at: Option<i64>) -> u32 {
        self.newest = self.newest.max(at);
        let time = at.unwrap_or_default();
        let n = self.run.filter(|it| it.0 == time).map_or(0, |it| it.1);
        self.run = Some((time, n.saturating_add(1)));
        n
    }
}

fn typed(line: &str) -> Result<Typed, Malformed> {
    let (_, [thread, at, said]) = Json::object(line, ["session_id", "ts", "text"])?;
    let at = at.map(Json::number::<i64>).transpose()?;
    Ok(Typed {
        thread: NativeSessionId::parse(&text(thread)?),
        at: at.map(|it| if it.abs() < MIN_MILLISECONDS { it.saturating_mul(1000) } else { it }),
        text: text(said)?.into_owned(),
    })
}
