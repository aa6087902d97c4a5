//! Taking in what a connector read.

use std::collections::{HashMap, hash_map::Entry};

use ai_hist_model::{
    Author, Batch, ConnectorId, Cursor, Event, EventBody, EventKind, FeedId, SessionId, SessionKey,
    Timestamp, Usage,
};
use rusqlite::{Transaction, TransactionBehavior, params};

use crate::{
    Origin, Store, StoreError,
    account::{self, Class},
    body::{self, Bodies},
    limits::{MAX_PREVIEW_CHARS, MAX_SKIPPED_PER_FEED},
    open::Lease,
    sessions, statements as sql,
};

/// One step of a pass over a feed.
#[derive(Debug)]
pub struct Step {
    /// Who read it.
    pub connector: ConnectorId,
    /// What was read.
    pub feed: FeedId,
    /// Its file, for people.
    pub path: Option<String>,
    /// Whose sessions these are.
    pub origin: Origin,
    /// What happened.
    pub commit: Commit,
}

/// What happened in a step.
#[derive(Debug)]
pub enum Commit {
    /// A stretch was read.
    Batch {
        /// The feed's cursor when this stretch was asked for; `None` if it had none.
        ///
        /// If the feed has another one by now, another process has read on, and the step changes
        /// nothing.
        after: Option<Cursor>,
        /// The stretch is the feed's beginning although it has a cursor: it was rewritten.
        restarted: bool,
        /// The stretch.
        batch: Box<Batch>,
    },
    /// The present end was reached.
    End {
        /// Size and time of the file when it was listed.
        stamp: Option<(u64, i64)>,
        /// The bytes beyond the last whole record.
        rest: Vec<u8>,
    },
    /// Reading failed; what was read before stands.
    Failed {
        /// Why.
        problem: String,
    },
}

/// What a transaction took in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// New events.
    pub n_events: u64,
    /// Events that were there already.
    pub n_known: u64,
    /// Raw bytes archived.
    pub n_bytes: u64,
    /// Steps that another process had already made.
    pub n_stale: u64,
}

impl Store {
    /// A writer. Several may exist; SQLite lets one at a time through.
    pub fn writer(&self) -> Result<Writer<'_>, StoreError> {
        Ok(Writer { db: self.connection()? })
    }
}

/// Writes to the store.
pub struct Writer<'a> {
    db: Lease<'a>,
}

impl Writer<'_> {
    /// Takes in `steps`: all of them, or none.
    pub fn commit(&mut self, steps: &[Step]) -> Result<Taken, StoreError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut taken = Taken::default();
        let mut intake = Intake { db: &transaction, sessions: HashMap::new(), taken: &mut taken };
        for step in steps {
            intake.step(step)?;
        }
        intake.finish()?;
        transaction.commit()?;
        Ok(taken)
    }

    /// Marks the feeds of `connector` that are not in `present` as gone, and those in it as here.
    /// Their history stays.
    pub fn mark_present(
        &mut self,
        connector: &ConnectorId,
        present: &dyn Fn(&str) -> bool,
    ) -> Result<(), StoreError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for feed in account::feeds_of(&transaction, connector)? {
            transaction
                .prepare_cached(sql::UPDATE_FEED_GONE)?
                .execute((feed.id, !present(&feed.name)))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Empties the copy of a session that was fetched and has a new generation in its workspace.
    pub fn clear_copy(&mut self, origin: &Origin, key: &SessionKey) -> Result<(), StoreError> {
        debug_assert!(!origin.is_local(), "what this machine's agents wrote is never cleared");
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some((id, _)) = sessions::id_of(&transaction, origin, key.id())? {
            let bodies: Vec<i64> = transaction
                .prepare_cached(sql::SELECT_SESSION_BODIES)?
                .query_map([id], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            transaction.prepare_cached(sql::DELETE_SESSION_EVENTS)?.execute([id])?;
            transaction.prepare_cached(sql::DELETE_SESSION_USAGE)?.execute([id])?;
            for body in bodies {
                transaction.prepare_cached(sql::DELETE_BODY)?.execute([body])?;
            }
            transaction.prepare_cached(sql::CLEAR_SESSION_COUNTS)?.execute([id])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Says which revision of the workspace's session the copy now stands for.
    pub fn set_revision(
        &mut self,
        origin: &Origin,
        key: &SessionKey,
        revision: &str,
    ) -> Result<(), StoreError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some((id, _)) = sessions::id_of(&transaction, origin, key.id())? {
            transaction.prepare_cached(sql::UPDATE_SESSION_REVISION)?.execute((id, revision))?;
        }
        transaction.commit()?;
        Ok(())
    }
}

/// One transaction at work.
struct Intake<'a> {
    db: &'a Transaction<'a>,
    sessions: HashMap<(Origin, SessionId), Session>,
    taken: &'a mut Taken,
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
}

impl Intake<'_> {
    fn step(&mut self, step: &Step) -> Result<(), StoreError> {
        let db = self.db;
        db.prepare_cached(sql::INSERT_FEED)?.execute((
            step.connector.as_str(),
            &step.feed.0,
            &step.path,
        ))?;
        let feed = account::feed(db, &step.connector, &step.feed)?.ok_or_else(|| {
            StoreError::Damaged { what: format!("feed `{}` is not there", step.feed) }
        })?;
        match &step.commit {
            Commit::Batch { after, restarted, batch } => {
                if feed.cursor != *after {
                    self.taken.n_stale += 1;
                    return Ok(());
                }
                let generation = feed.generation + i64::from(*restarted);
                self.batch(&step.origin, Source { feed: feed.id, generation }, batch)
            }
            Commit::End { stamp, rest } => {
                let packed = if rest.is_empty() { None } else { Some(body::pack(rest)?) };
                let n_bytes = stamp.and_then(|it| i64::try_from(it.0).ok());
                db.prepare_cached(sql::UPDATE_FEED_END)?.execute(params![
                    feed.id,
                    n_bytes,
                    stamp.map(|it| it.1),
                    packed,
                    rest.len(),
                    None::<String>,
                ])?;
                Ok(())
            }
            Commit::Failed { problem } => {
                db.prepare_cached(sql::UPDATE_FEED_PROBLEM)?.execute((feed.id, problem))?;
                Ok(())
            }
        }
    }

    fn batch(&mut self, origin: &Origin, from: Source, batch: &Batch) -> Result<(), StoreError> {
        for facts in &batch.sessions {
            sessions::upsert(self.db, origin, facts)?;
        }
        for event in &batch.events {
            self.event(origin, from, event)?;
        }
        for usage in &batch.usage {
            self.usage(origin, usage)?;
        }
        self.account(from, batch)?;
        if !batch.raw.is_empty() {
            let first_byte: i64 = self
                .db
                .prepare_cached(sql::SELECT_ARCHIVE_END)?
                .query_map((from.feed, from.generation), |row| row.get(0))?
                .next()
                .transpose()?
                .unwrap_or(0);
            self.db.prepare_cached(sql::INSERT_ARCHIVE)?.execute(params![
                from.feed,
                from.generation,
                first_byte,
                batch.raw.len(),
                body::pack(&batch.raw)?,
            ])?;
            self.taken.n_bytes += batch.raw.len() as u64;
        }
        self.db.prepare_cached(sql::UPDATE_FEED_CURSOR)?.execute((
            from.feed,
            batch.cursor.as_str(),
            from.generation,
        ))?;
        Ok(())
    }

    /// The session of an event: stated in its batch, or in one before.
    fn session(&mut self, origin: &Origin, id: SessionId) -> Result<&mut Session, StoreError> {
        match self.sessions.entry((origin.clone(), id)) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let known = sessions::id_of(self.db, origin, id)?;
                let (row, next_seq) = known.ok_or_else(|| StoreError::Damaged {
                    what: format!("an event of session {id}, of which nothing was stated"),
                })?;
                Ok(entry.insert(Session {
                    row,
                    next_seq,
                    n_prompts: 0,
                    first_prompt: None,
                    started: None,
                    ended: None,
                    bodies: Bodies::default(),
                }))
            }
        }
    }

    fn event(&mut self, origin: &Origin, from: Source, event: &Event) -> Result<(), StoreError> {
        let db = self.db;
        let session = self.session(origin, event.session)?;
        let is_known = 0 < session.next_seq
            && db
                .prepare_cached(sql::SELECT_EVENT_BY_ID)?
                .exists((session.row, event.id.as_bytes()))?;
        if is_known {
            self.taken.n_known += 1;
            return Ok(());
        }
        let columns = Columns::of(event);
        let place = session.bodies.add(db, columns.text)?;
        db.prepare_cached(sql::INSERT_EVENT)?.execute(params![
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
            place.page,
            place.start,
            place.n_bytes,
            from.feed,
            from.generation,
            i64::try_from(event.span.first_byte).unwrap_or(i64::MAX),
            i64::try_from(event.span.n_bytes).unwrap_or(i64::MAX),
        ])?;
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
                upsert.execute((from.feed, from.generation, class as i64, kind, n))?;
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

    fn finish(mut self) -> Result<(), StoreError> {
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
        Ok(())
    }
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
