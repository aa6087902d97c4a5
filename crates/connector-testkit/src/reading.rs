//! Passes over feeds, and what they add up to.

use std::{collections::BTreeMap, fmt::Debug};

use ai_hist_connector::{
    Budget, Connector, Feed, FeedReader, Start,
    model::{Batch, Cursor, Event, SessionFacts, SessionKey, Skipped, Tally, Usage},
};

/// More than any recording holds, and not so much that a sum overflows.
const MANY: usize = usize::MAX / 4;

pub(crate) const ONE_RECORD: Budget = Budget { records: 1, bytes: MANY };
pub(crate) const THREE_RECORDS: Budget = Budget { records: 3, bytes: MANY };
pub(crate) const ONE_BYTE: Budget = Budget { records: MANY, bytes: 1 };
pub(crate) const EVERYTHING: Budget = Budget { records: MANY, bytes: MANY };

/// One pass over a feed, to its present end.
pub(crate) struct Pass {
    pub(crate) start: Start,
    pub(crate) batches: Vec<Batch>,
    pub(crate) rest: Vec<u8>,
}

/// What passes add up to, by the rules that [`SessionFacts`] and [`Usage`] state.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) facts: BTreeMap<SessionKey, SessionFacts>,
    pub(crate) events: Vec<Event>,
    pub(crate) usage: Vec<Usage>,
    pub(crate) tally: Tally,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) raw: Vec<u8>,
    pub(crate) rest: Vec<u8>,
    /// After the last batch.
    pub(crate) cursor: Option<Cursor>,
}

/// Reads `feed` from `cursor` to its end.
pub(crate) fn pass(
    connector: &dyn Connector,
    feed: &Feed,
    cursor: Option<&Cursor>,
    budget: Budget,
) -> Result<Pass, String> {
    let mut reader = open(connector, feed, cursor)?;
    let start = reader.start();
    let mut batches: Vec<Batch> = Vec::new();
    while let Some(batch) = next_batch(&mut *reader, feed, budget)? {
        if batches.last().is_some_and(|it| it.cursor == batch.cursor) {
            return Err(format!("`{}`: a batch does not move the cursor", feed.id));
        }
        batches.push(batch);
    }
    if next_batch(&mut *reader, feed, budget)?.is_some() {
        return Err(format!("`{}`: the reader goes on after its end", feed.id));
    }
    Ok(Pass { start, batches, rest: reader.rest().to_vec() })
}

/// Reads all of `feed`.
pub(crate) fn reading(
    connector: &dyn Connector,
    feed: &Feed,
    budget: Budget,
) -> Result<Reading, String> {
    let pass = pass(connector, feed, None, budget)?;
    let mut reading = Reading::default();
    reading.add_pass(pass);
    Ok(reading)
}

pub(crate) fn open(
    connector: &dyn Connector,
    feed: &Feed,
    cursor: Option<&Cursor>,
) -> Result<Box<dyn FeedReader>, String> {
    connector.open(feed, cursor).map_err(|error| format!("cannot open `{}`: {error}", feed.id))
}

pub(crate) fn next_batch(
    reader: &mut dyn FeedReader,
    feed: &Feed,
    budget: Budget,
) -> Result<Option<Batch>, String> {
    let batch =
        reader.next_batch(budget).map_err(|error| format!("cannot read `{}`: {error}", feed.id))?;
    let Some(batch) = batch else {
        return Ok(None);
    };
    // One byte is met by any record, so one record is the most for either bound.
    let most = if budget.bytes == 1 { 1 } else { budget.records as u64 };
    if most < batch.tally.records() {
        let n_records = batch.tally.records();
        return Err(format!(
            "`{}`: a batch of {n_records} records exceeds its budget of {most}",
            feed.id
        ));
    }
    Ok(Some(batch))
}

impl Reading {
    pub(crate) fn add_pass(&mut self, pass: Pass) {
        for batch in pass.batches {
            self.add(batch);
        }
        self.rest = pass.rest;
    }

    pub(crate) fn add(&mut self, batch: Batch) {
        for facts in batch.sessions {
            self.state(facts);
        }
        for usage in batch.usage {
            self.charge(usage);
        }
        self.events.extend(batch.events);
        self.skipped.extend(batch.skipped);
        self.raw.extend(batch.raw);
        self.cursor = Some(batch.cursor);
        for (sum, more) in [
            (&mut self.tally.understood, batch.tally.understood),
            (&mut self.tally.ignored, batch.tally.ignored),
            (&mut self.tally.unknown, batch.tally.unknown),
        ] {
            for (kind, n_records) in more {
                *sum.entry(kind).or_default() += n_records;
            }
        }
        self.tally.damaged += batch.tally.damaged;
    }

    fn state(&mut self, new: SessionFacts) {
        let key = new.key.clone();
        let facts = self.facts.entry(key.clone()).or_insert_with(|| SessionFacts::about(key));
        facts.cwd = facts.cwd.take().or(new.cwd);
        if let Some(title) = new.title
            && facts.title.as_ref().is_none_or(|it| it.origin <= title.origin)
        {
            facts.title = Some(title);
        }
        for (old, new) in [
            (&mut facts.git_branch, new.git_branch),
            (&mut facts.git_commit, new.git_commit),
            (&mut facts.git_remote, new.git_remote),
            (&mut facts.agent_version, new.agent_version),
            (&mut facts.originator, new.originator),
            (&mut facts.nickname, new.nickname),
        ] {
            *old = new.or(old.take());
        }
        facts.lineage = new.lineage.or(facts.lineage.take());
    }

    fn charge(&mut self, new: Usage) {
        let same = |it: &&mut Usage| it.session == new.session && it.key == new.key;
        match self.usage.iter_mut().find(same) {
            Some(old) if old.output < new.output => *old = new,
            Some(_) => {}
            None => self.usage.push(new),
        }
    }

    /// Says in what `other` differs.
    pub(crate) fn same_as(&self, other: &Self) -> Result<(), String> {
        same_list("event", &self.events, &other.events)?;
        same_list("usage", &self.usage, &other.usage)?;
        same_list("skipped record", &self.skipped, &other.skipped)?;
        let facts = |it: &Self| it.facts.values().cloned().collect::<Vec<_>>();
        same_list("session's facts", &facts(self), &facts(other))?;
        same("tally", &self.tally, &other.tally)?;
        same_bytes("raw bytes", &self.raw, &other.raw)?;
        same_bytes("rest", &self.rest, &other.rest)
    }
}

/// Says which item of `other` is another.
pub(crate) fn same_list<T: PartialEq + Debug>(
    what: &str,
    one: &[T],
    other: &[T],
) -> Result<(), String> {
    for (i, (a, b)) in one.iter().zip(other).enumerate() {
        same(&format!("{what} {i}"), a, b)?;
    }
    if one.len() == other.len() {
        return Ok(());
    }
    let first = one.get(other.len()).or(other.get(one.len()));
    let (n, m) = (one.len(), other.len());
    Err(format!("{n} and {m} of {what}; the first in excess: {}", excerpt(first)))
}

pub(crate) fn same<T: PartialEq + Debug>(what: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    Err(format!("{what} differs\n      {}\n      {}", excerpt(one), excerpt(other)))
}

pub(crate) fn same_bytes(what: &str, one: &[u8], other: &[u8]) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    let at = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (n, m) = (one.len(), other.len());
    Err(format!("{what} differ ({n} bytes and {m}), first at byte {at}"))
}

fn excerpt(value: impl Debug) -> String {
    let mut text = format!("{value:?}");
    if let Some((end, _)) = text.char_indices().nth(600) {
        text.truncate(end);
        text.push('…');
    }
    text
}
