//! One transaction that takes steps in.

use std::collections::{HashMap, hash_map::Entry};

use ai_hist_model::{
    Author, Batch, Event, EventBody, EventKind, SessionId, Stamp, Timestamp, Usage,
};
use rusqlite::{Transaction, params};

use crate::{
    Commit, FeedAccount, Origin, Step, StoreError, Taken,
    account::{self, Class},
    archive,
    body::{Bodies, Place},
    codec, forks,
    limits::{MAX_PREVIEW_CHARS, MAX_SKIPPED_PER_FEED, N_BEGINNING},
    quoted::Quoter,
    replay::Replayed,
    screen::{Screen, Screened},
    sessions, statements as sql,
};

/// One transaction at work.
pub(crate) struct Intake<'a> {
    db: &'a Transaction<'a>,
    sessions: HashMap<(Origin, SessionId), Session>,
    screen: Screen,
    taken: Taken,
    /// Feeds whose end was reached.
    ended: Vec<i64>,
    /// What is read again: the feed, its generation, and how far it has come.
    replaying: Option<(i64, i64, u64)>,
}

/// A session that this transaction touches.
struct Session {
    row: i64,
    next_seq: i64,
    n_prompts: i64,
    first_prompt: Option<String>,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    bodies: Bodies,
}

/// Where the events of a batch come from.
#[derive(Clone, Copy)]
struct Source {
    feed: i64,
    generation: i64,
    /// Where the batch begins.
    base: u64,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(db: &'a Transaction<'a>) -> Result<Self, StoreError> {
        Ok(Self {
            db,
            sessions: HashMap::new(),
            screen: Screen::load(db)?,
            taken: Taken::default(),
            ended: Vec::new(),
            replaying: None,
        })
    }

    pub(crate) fn step(&mut self, step: &Step) -> Result<(), StoreError> {
        ai_hist_fault::point("store::batch")?;
        let feed = self.feed(step)?;
        if feed.is_hidden {
            self.taken.n_stale += 1;
            return Ok(());
        }
        match &step.commit {
            Commit::Batch { after, restarted, batch } => {
                if feed.cursor != *after {
                    self.taken.n_stale += 1;
                    return Ok(());
                }
                let generation = feed.generation + i64::from(*restarted);
                if *restarted {
                    self.keep_rest(&feed)?;
                }
                let base = archive::end(self.db, feed.id, generation)?.unsigned_abs();
                let from = Source { feed: feed.id, generation, base };
                match self.screen.batch(self.db, feed.id, base, &step.origin, batch)? {
                    Screened::Whole => self.batch(from, step, batch),
                    Screened::Part(batch) => self.batch(from, step, &batch),
                    Screened::Nothing => {
                        self.taken.n_stale += 1;
                        Ok(())
                    }
                }
            }
            Commit::End { after, stamp, rest } => {
                if feed.cursor != *after {
                    self.taken.n_stale += 1;
                    return Ok(());
                }
                self.ended.push(feed.id);
                self.end(feed.id, *stamp, rest)
            }
            Commit::Failed { problem } => {
                let parameters = (feed.id, problem);
                self.db.prepare_cached(sql::UPDATE_FEED_PROBLEM)?.execute(parameters)?;
                Ok(())
            }
        }
    }

    fn batch(&mut self, from: Source, step: &Step, batch: &Batch) -> Result<(), StoreError> {
        self.events(&step.origin, from, batch)?;
        ai_hist_fault::point("store::archive")?;
        if !batch.raw.is_empty() {
            archive::append(self.db, from.feed, from.generation, &batch.raw)?;
            self.taken.n_bytes += batch.raw.len() as u64;
        }
        self.advance(from, step, batch)
    }

    /// Takes in again what the archive has, without archiving it again.
    pub(crate) fn replay(&mut self, it: &Replayed) -> Result<(), StoreError> {
        let base = match self.replaying {
            Some((feed, generation, end)) if (feed, generation) == (it.feed, it.generation) => end,
            Some(_) | None => 0,
        };
        let end = base + it.batch.raw.len() as u64;
        self.replaying = Some((it.feed, it.generation, end));
        let from = Source { feed: it.feed, generation: it.generation, base };
        self.events(&it.step.origin, from, &it.batch)?;
        let parameters = (it.feed, it.batch.cursor.as_str(), it.step.reading);
        self.db.prepare_cached(sql::UPDATE_FEED_REPLAYED)?.execute(parameters)?;
        if !self.ended.contains(&it.feed) {
            self.ended.push(it.feed);
        }
        Ok(())
    }

    /// The feed of a step, made at its first one.
    fn feed(&self, step: &Step) -> Result<FeedAccount, StoreError> {
        let known = account::feed(self.db, &step.connector, &step.feed)?;
        if let Some(feed) = known {
            let is_same = feed.path.as_deref().and_then(|it| it.to_str()) == step.path.as_deref();
            if !is_same || feed.is_gone {
                let parameters = (feed.id, &step.path);
                self.db.prepare_cached(sql::UPDATE_FEED_PATH)?.execute(parameters)?;
            }
            return Ok(feed);
        }
        self.db.prepare_cached(sql::INSERT_FEED)?.execute((
            step.connector.as_str(),
            &step.feed.0,
            &step.path,
            step.reading,
        ))?;
        account::feed(self.db, &step.connector, &step.feed)?.ok_or_else(|| StoreError::Damaged {
            what: format!("feed `{}` is not there", step.feed),
        })
    }

    /// The torn end of a generation that is over belongs to it, and nothing will complete it.
    fn keep_rest(&self, feed: &FeedAccount) -> Result<(), StoreError> {
        match archive::rest(self.db, feed.id, feed.generation)? {
            Some(rest) => archive::append(self.db, feed.id, feed.generation, &rest),
            None => Ok(()),
        }
    }

    fn end(&self, feed: i64, stamp: Option<Stamp>, rest: &[u8]) -> Result<(), StoreError> {
        let packed = if rest.is_empty() { None } else { Some(codec::pack(rest)?) };
        let n_bytes = stamp.and_then(|it| i64::try_from(it.n_bytes).ok());
        self.db.prepare_cached(sql::UPDATE_FEED_END)?.execute(params![
            feed,
            n_bytes,
            stamp.map(|it| it.modified_ms),
            stamp.map(|it| it.changed),
            packed,
            rest.len(),
        ])?;
        Ok(())
    }

    fn events(&mut self, origin: &Origin, from: Source, batch: &Batch) -> Result<(), StoreError> {
        for facts in &batch.sessions {
            let session = sessions::upsert(self.db, origin, facts)?;
            self.db.prepare_cached(sql::INSERT_FEED_SESSION)?.execute((from.feed, session))?;
        }
        let mut quoter = Quoter::new(&batch.raw, from.base);
        for event in &batch.events {
            self.event(origin, from, event, &mut quoter)?;
        }
        for usage in &batch.usage {
            self.usage(origin, usage)?;
        }
        self.account(from, batch)
    }

    fn advance(&self, from: Source, step: &Step, batch: &Batch) -> Result<(), StoreError> {
        ai_hist_fault::point("store::cursor")?;
        self.db.prepare_cached(sql::UPDATE_FEED_CURSOR)?.execute((
            from.feed,
            batch.cursor.as_str(),
            from.generation,
            step.reading,
        ))?;
        Ok(())
    }

    /// The session of an event: stated in its batch, or in one before.
    fn session(&mut self, origin: &Origin, id: SessionId) -> Result<&mut Session, StoreError> {
        match self.sessions.entry((origin.clone(), id)) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let known = sessions::id_of(self.db, origin, id)?;
                let known = known.ok_or_else(|| StoreError::Damaged {
                    what: format!("an event of session {id}, of which nothing was stated"),
                })?;
                let bodies = match known.n_events {
                    0 => Bodies::default(),
                    _ => Bodies::resume(self.db, known.row)?,
                };
                Ok(entry.insert(Session {
                    row: known.row,
                    next_seq: known.n_events,
                    n_prompts: 0,
                    first_prompt: None,
                    started: None,
                    ended: None,
                    bodies,
                }))
            }
        }
    }

    fn event(
        &mut self,
        origin: &Origin,
        from: Source,
        event: &Event,
        quoter: &mut Quoter<'_>,
    ) -> Result<(), StoreError> {
        let db = self.db;
        let session = self.session(origin, event.session)?;
        let columns = Columns::of(event);
        let place = match quoter.find(columns.text, event.span.first_byte, event.span.n_bytes) {
            Some(quote) => Place::Archive(quote),
            None => session.bodies.add(db, columns.text)?,
        };
        let (page, start, n_bytes) = place.columns();
        let n_inserted = db.prepare_cached(sql::INSERT_EVENT)?.execute(params![
            session.row,
            session.next_seq,
            event.id.as_bytes(),
            event.kind() as i64,
            event.at.map(|it| it.0),
            columns.author,
            columns.model,
            columns.name,
            columns.call,
            columns.path,
            columns.detail,
            page,
            start,
            n_bytes,
            from.feed,
            from.generation,
            i64::try_from(event.span.first_byte).unwrap_or(i64::MAX),
            i64::try_from(event.span.n_bytes).unwrap_or(i64::MAX),
            event.inherited,
        ])?;
        if n_inserted == 0 {
            session.bodies.take_back(place);
            self.taken.n_known += 1;
            return Ok(());
        }
        if session.next_seq < N_BEGINNING && origin.is_local() {
            let name = forks::name(event.id, event.session);
            db.prepare_cached(sql::INSERT_BEGINNING)?.execute((name.as_bytes(), session.row))?;
        }
        session.next_seq += 1;
        session.started = session.started.into_iter().chain(event.at).min();
        session.ended = session.ended.into_iter().chain(event.at).max();
        let is_opening = matches!(event.kind(), EventKind::Prompt | EventKind::Task);
        session.n_prompts += i64::from(event.kind() == EventKind::Prompt);
        if is_opening && session.first_prompt.is_none() {
            session.first_prompt = Some(preview(columns.text));
        }
        self.taken.n_events += 1;
        Ok(())
    }

    fn usage(&mut self, origin: &Origin, usage: &Usage) -> Result<(), StoreError> {
        let db = self.db;
        let session = self.session(origin, usage.session)?;
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        db.prepare_cached(sql::UPSERT_USAGE)?.execute(params![
            session.row,
            usage.key,
            usage.model,
            usage.at.map(|it| it.0),
            count(usage.input),
            count(usage.cache_read),
            count(usage.cache_write),
            count(usage.output),
        ])?;
        Ok(())
    }

    fn account(&self, from: Source, batch: &Batch) -> Result<(), StoreError> {
        let mut upsert = self.db.prepare_cached(sql::UPSERT_TALLY)?;
        let tally = &batch.tally;
        let damaged = [("damaged".to_owned(), tally.damaged)];
        let classes = [
            (Class::Understood, tally.understood.iter().collect::<Vec<_>>()),
            (Class::Ignored, tally.ignored.iter().collect()),
            (Class::Unknown, tally.unknown.iter().collect()),
            (Class::Damaged, damaged.iter().map(|it| (&it.0, &it.1)).collect()),
        ];
        for (class, kinds) in classes {
            for (kind, n) in kinds.into_iter().filter(|it| 0 < *it.1) {
                let n = i64::try_from(*n).unwrap_or(i64::MAX);
                let example = if class == Class::Unknown { example(batch, kind) } else { None };
                upsert.execute((from.feed, from.generation, class as i64, kind, n, example))?;
            }
        }
        let mut insert = self.db.prepare_cached(sql::INSERT_SKIPPED)?;
        for skipped in &batch.skipped {
            insert.execute((
                from.feed,
                from.generation,
                &skipped.locator,
                &skipped.reason,
                MAX_SKIPPED_PER_FEED,
            ))?;
        }
        Ok(())
    }

    /// Writes what was collected, and looks for forks in the feeds whose end was reached.
    pub(crate) fn finish(mut self) -> Result<Taken, StoreError> {
        for session in self.sessions.values_mut() {
            session.bodies.finish(self.db)?;
            self.db.prepare_cached(sql::UPDATE_SESSION_COUNTS)?.execute(params![
                session.row,
                session.next_seq,
                session.n_prompts,
                session.first_prompt,
                session.started.map(|it| it.0),
                session.ended.map(|it| it.0),
            ])?;
        }
        for feed in &self.ended {
            forks::settle_feed(self.db, *feed)?;
        }
        Ok(self.taken)
    }
}

/// Where the first record of an unknown kind begins.
fn example(batch: &Batch, kind: &str) -> Option<i64> {
    let is_that =
        |it: &&Event| matches!(&it.body, EventBody::Unknown { kind: of, .. } if of == kind);
    i64::try_from(batch.events.iter().find(is_that)?.span.first_byte).ok()
}

/// An event as columns.
struct Columns<'a> {
    author: i64,
    model: Option<&'a str>,
    name: Option<&'a str>,
    call: Option<&'a str>,
    path: Option<&'a str>,
    detail: Option<i64>,
    text: &'a str,
}

impl<'a> Columns<'a> {
    fn of(event: &'a Event) -> Self {
        let (author, model) = match &event.author {
            Author::Person => (1, None),
            Author::Model { name } => (2, name.as_deref()),
            Author::Tool => (3, None),
            Author::Agent => (4, None),
            Author::Harness => (5, None),
        };
        let text = event.body.text();
        let plain = Self { author, model, name: None, call: None, path: None, detail: None, text };
        match &event.body {
            EventBody::Message { .. }
            | EventBody::Reasoning { .. }
            | EventBody::Plan { .. }
            | EventBody::Compaction { .. } => plain,
            EventBody::ToolCall { call, tool, .. } => {
                Self { call: Some(call), name: Some(tool), ..plain }
            }
            EventBody::ToolResult { call, outcome, .. } => Self {
                call: Some(call),
                detail: Some(crate::events::outcome_number(*outcome)),
                ..plain
            },
            EventBody::FileEdit { call, path, change, .. } => Self {
                call: call.as_deref(),
                path: Some(path),
                detail: Some(crate::events::change_number(*change)),
                ..plain
            },
            EventBody::Marker { name, .. } | EventBody::Unknown { kind: name, .. } => {
                Self { name: Some(name), ..plain }
            }
        }
    }
}

fn preview(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        if MAX_PREVIEW_CHARS <= out.len() {
            break;
        }
        out.push(' ');
        out.push_str(word);
    }
    match out.char_indices().nth(MAX_PREVIEW_CHARS) {
        Some((at, _)) => format!("{}…", &out[..at]),
        None => out,
    }
}
