//! The account of what was read: per feed, what became of each record.

use std::{collections::HashMap, path::PathBuf};

use ai_hist_model::{ConnectorId, Cursor, FeedId, Skipped, Stamp};
use rusqlite::{Connection, Row};

use crate::{Store, StoreError, statements as sql};

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TallyClass {
    /// It gave events, facts or usage.
    Understood = 1,
    /// It is known to hold nothing of its own.
    Ignored = 2,
    /// This version does not know its kind.
    Unknown = 3,
    /// It could not be read.
    Damaged = 4,
}

pub(crate) use TallyClass as Class;

/// How many records of one kind had one fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TallyRow {
    /// Their fate.
    pub class: TallyClass,
    /// Their kind, in the agent's words.
    pub kind: String,
    /// How many.
    pub n: u64,
    /// Of an unknown kind: where the first one begins.
    pub example: Option<u64>,
}

/// How far a feed has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedState {
    /// Its row.
    pub row: i64,
    /// Its cursor; `None` if nothing was read yet.
    pub cursor: Option<Cursor>,
    /// What its file was like when its end was last reached.
    pub stamp: Option<Stamp>,
    /// Whether the source had stopped listing it.
    pub is_gone: bool,
    /// Whether the last pass failed.
    pub has_problem: bool,
    /// Whether it is left unread, because the user wants it kept out.
    pub is_hidden: bool,
    /// The version of its connector's reading when it was read.
    pub reading: u32,
}

impl FeedAccount {
    /// Whether something was read of it.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        self.cursor.is_some()
    }
}

impl FeedState {
    fn of(account: &FeedAccount) -> Self {
        Self {
            row: account.id,
            cursor: account.cursor.clone(),
            stamp: account.stamp,
            is_gone: account.is_gone,
            has_problem: account.problem.is_some(),
            is_hidden: account.is_hidden,
            reading: account.reading,
        }
    }
}

/// The account of one feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedAccount {
    /// Its row.
    pub id: i64,
    /// Who reads it.
    pub connector: String,
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: Option<PathBuf>,
    /// How often it was rewritten.
    pub generation: i64,
    /// What its file was like when its end was last reached.
    pub stamp: Option<Stamp>,
    /// Whether the source has stopped listing it. Its history stays.
    pub is_gone: bool,
    /// Why the last pass failed.
    pub problem: Option<String>,
    /// How many bytes stand beyond the last whole record.
    pub n_rest: u64,
    /// What became of its records, in its present generation.
    pub tally: Vec<TallyRow>,
    /// Where the damaged ones are; the first hundred.
    pub skipped: Vec<Skipped>,
    /// Whether it is left unread, because the user wants it kept out.
    pub is_hidden: bool,
    /// The version of its connector's reading when it was read.
    pub reading: u32,
    pub(crate) cursor: Option<Cursor>,
}

/// What the store holds of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCount {
    /// The agent.
    pub agent: String,
    /// Sessions.
    pub n_sessions: u64,
    /// Events.
    pub n_events: u64,
    /// Prompts.
    pub n_prompts: u64,
}

impl Store {
    /// How far `feed` has been read; `None` if it is not known.
    pub fn feed_state(
        &self,
        connector: &ConnectorId,
        feed: &FeedId,
    ) -> Result<Option<FeedState>, StoreError> {
        let db = self.connection()?;
        let parameters = (connector.as_str(), &feed.0);
        Ok(read_feeds(&db, sql::SELECT_FEED, parameters)?.first().map(FeedState::of))
    }

    /// How far each feed of `connector` has been read.
    pub fn feed_states(
        &self,
        connector: &ConnectorId,
    ) -> Result<HashMap<FeedId, FeedState>, StoreError> {
        let db = self.connection()?;
        let feeds = feeds_of(&db, connector)?;
        Ok(feeds.iter().map(|it| (FeedId(it.name.clone()), FeedState::of(it))).collect())
    }

    /// One feed, without its tally.
    pub fn account(
        &self,
        connector: &ConnectorId,
        feed: &FeedId,
    ) -> Result<Option<FeedAccount>, StoreError> {
        self::feed(&*self.connection()?, connector, feed)
    }

    /// The account of every feed.
    pub fn accounts(&self) -> Result<Vec<FeedAccount>, StoreError> {
        let db = self.connection()?;
        let mut feeds = read_feeds(&db, sql::whole::SELECT_FEEDS, [])?;
        for feed in &mut feeds {
            let mut tally = db.prepare_cached(sql::SELECT_TALLY)?;
            let rows = tally.query_map((feed.id, feed.generation), |row| {
                let class = match row.get(0)? {
                    1_i64 => TallyClass::Understood,
                    2 => TallyClass::Ignored,
                    3 => TallyClass::Unknown,
                    _ => TallyClass::Damaged,
                };
                let n: i64 = row.get(2)?;
                let example = row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs);
                Ok(TallyRow { class, kind: row.get(1)?, n: n.unsigned_abs(), example })
            })?;
            feed.tally = rows.collect::<Result<_, _>>()?;
            let mut skipped = db.prepare_cached(sql::SELECT_SKIPPED)?;
            let rows = skipped.query_map((feed.id, feed.generation), |row| {
                Ok(Skipped { locator: row.get(0)?, reason: row.get(1)? })
            })?;
            feed.skipped = rows.collect::<Result<_, _>>()?;
        }
        Ok(feeds)
    }

    /// What the store holds of each agent on this machine, the one with most sessions first.
    pub fn counts(&self) -> Result<Vec<AgentCount>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::whole::COUNT_BY_AGENT)?;
        let rows = select.query_map([], |row| {
            let count = |column: usize| -> Result<u64, rusqlite::Error> {
                Ok(row.get::<_, i64>(column)?.unsigned_abs())
            };
            Ok(AgentCount {
                agent: row.get(0)?,
                n_sessions: count(1)?,
                n_events: count(2)?,
                n_prompts: count(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

pub(crate) fn feed(
    db: &Connection,
    connector: &ConnectorId,
    feed: &FeedId,
) -> Result<Option<FeedAccount>, StoreError> {
    Ok(read_feeds(db, sql::SELECT_FEED, (connector.as_str(), &feed.0))?.pop())
}

pub(crate) fn feeds_of(
    db: &Connection,
    connector: &ConnectorId,
) -> Result<Vec<FeedAccount>, StoreError> {
    read_feeds(db, sql::SELECT_FEEDS_OF_CONNECTOR, [connector.as_str()])
}

/// The sessions that a feed tells of, by row.
pub(crate) fn sessions_of_feed(db: &Connection, feed: i64) -> Result<Vec<i64>, StoreError> {
    let mut select = db.prepare_cached(sql::SELECT_SESSIONS_OF_FEED)?;
    let rows = select.query_map([feed], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The feeds that tell of a session, by row.
pub(crate) fn feeds_of_session(db: &Connection, session: i64) -> Result<Vec<i64>, StoreError> {
    let mut select = db.prepare_cached(sql::SELECT_FEEDS_OF_SESSION)?;
    let rows = select.query_map([session], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn read_feeds(
    db: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<FeedAccount>, StoreError> {
    let mut select = db.prepare_cached(sql)?;
    let rows = select.query_map(parameters, read_feed)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_feed(row: &Row<'_>) -> Result<FeedAccount, rusqlite::Error> {
    Ok(FeedAccount {
        id: row.get(0)?,
        connector: row.get(1)?,
        name: row.get(2)?,
        path: row.get::<_, Option<String>>(3)?.map(PathBuf::from),
        generation: row.get(4)?,
        cursor: row.get::<_, Option<String>>(5)?.map(Cursor::new),
        stamp: stamp(row.get(6)?, row.get(7)?, row.get(8)?),
        is_gone: row.get(9)?,
        problem: row.get(10)?,
        n_rest: row.get::<_, i64>(11)?.unsigned_abs(),
        tally: Vec::new(),
        skipped: Vec::new(),
        reading: row.get(12)?,
        is_hidden: row.get::<_, i64>(13)? != 0,
    })
}

fn stamp(n_bytes: Option<i64>, modified_ms: Option<i64>, changed: Option<i64>) -> Option<Stamp> {
    let n_bytes = n_bytes?.unsigned_abs();
    Some(Stamp { n_bytes, modified_ms: modified_ms?, changed: changed.unwrap_or(0) })
}
