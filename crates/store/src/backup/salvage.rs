//! Reading what can still be read of a damaged store into a new one.
//!
//! Numbers of rows mean nothing across files: one may have been given again. So feeds and sessions
//! are known by their names, and every row that refers to one gets its number in the new file.
//!
//! | what is read | where it comes from |
//! |---|---|
//! | a row that can be read | the damaged file |
//! | a row of a table that is damaged | the backup, if the damaged file has none of the same key |
//! | a forgotten session | nowhere |

use std::collections::{HashMap, HashSet};

use rusqlite::{
    Connection, ErrorCode, Row, Transaction, TransactionBehavior, params_from_iter, types::Value,
};

use crate::{StoreError, codec, migrate};

use super::{
    mend::{self, Losses},
    source::{Source, Sources},
    walk::{self, Table},
};

/// What was brought into the new store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Sessions.
    pub n_sessions: u64,
    /// Events.
    pub n_events: u64,
    /// How many of these events only the backup had.
    pub n_from_backup: u64,
    /// Rows that were found and could not be used.
    pub n_unusable: u64,
    /// Bytes of transcripts that are lost, unless their transcripts are still there. They are
    /// blanks in the archive.
    pub n_blank_bytes: u64,
    /// Transcripts that are read again from their beginning, if they are still there.
    pub n_incomplete: u64,
}

/// Tables that are taken over row by row once feeds and sessions are, the columns that refer to
/// those, and whether rows of the backup join those that are there.
const TABLES: &[&str] = &[
    "meta",
    "archive",
    "tally",
    "skipped",
    "event",
    "usage",
    "feed_session",
    "beginning",
    "forgotten",
    "exclusion",
];

/// Tables that are made anew: what the store is, what the index lacks; and texts, which come with
/// their events.
#[cfg(test)]
const OTHERS: &[&str] = &["reindex", "body", "feed", "session", "sqlite_sequence"];

/// Makes the store `path` from what can be read.
pub(super) fn into_new(
    sources: &Sources<'_>,
    path: &std::path::Path,
    on_progress: &dyn Fn(&str),
) -> Result<Salvaged, StoreError> {
    crate::open::make_file(path)
        .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
    let mut new = Connection::open(path)?;
    // Nothing counts before all of it is written: see the caller.
    new.pragma_update(None, "synchronous", "OFF")?;
    migrate::to_newest(&mut new, &mut |_, _| {})?;
    let mut found = sources.open(path)?;
    let transaction = new.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut salvage = Salvage {
        db: &transaction,
        forgotten: HashSet::new(),
        losses: Losses::default(),
        done: Salvaged::default(),
    };
    salvage.all(&mut found, on_progress)?;
    on_progress("putting in order");
    let mended = mend::feeds(&transaction, &salvage.losses)?;
    mend::renumber(&transaction)?;
    let mut done = salvage.done;
    (done.n_blank_bytes, done.n_incomplete) = (mended.n_blank_bytes, mended.n_incomplete);
    (done.n_sessions, done.n_events) = mend::count(&transaction)?;
    transaction.commit()?;
    new.close().map_err(|(_, error)| error)?;
    for source in found {
        source.close();
    }
    Ok(done)
}

/// Whether every text and every archived stretch unpacks.
pub(super) fn check_pages(db: &Connection) -> Result<(), StoreError> {
    for (table, column) in [("body", "data"), ("archive", "body")] {
        let mut select = db.prepare(&format!("SELECT {column} FROM {table}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            codec::unpack(row.get_ref(0)?.as_blob().unwrap_or_default())?;
        }
    }
    Ok(())
}

struct Salvage<'a> {
    db: &'a Transaction<'a>,
    forgotten: HashSet<(String, String)>,
    losses: Losses,
    done: Salvaged,
}

impl Salvage<'_> {
    /// Takes over every table of every source, the newest source first.
    fn all(
        &mut self,
        sources: &mut [Source],
        on_progress: &dyn Fn(&str),
    ) -> Result<(), StoreError> {
        if let Some(newest) = sources.first() {
            self.forgotten = forgotten(newest)?;
            // Of the newest file alone: what an older one lacks, the newer one has.
            self.losses.any_feed = !newest.is_whole("feed_session");
            self.losses.any_end = !newest.is_whole("archive");
        }
        let mut is_whole: HashSet<&str> = HashSet::new();
        for (rank, source) in sources.iter_mut().enumerate() {
            self.owners(source, &is_whole, rank)?;
            is_whole.extend(["feed", "session"].into_iter().filter(|it| source.is_whole(it)));
        }
        // The row that a number stands for may be lost and its number still be in use.
        if let [newest, older @ ..] = sources {
            for source in older {
                newest.adopt_numbers(source);
            }
        }
        for table in TABLES {
            on_progress(table);
            let mut is_whole = false;
            for (i, source) in sources.iter_mut().enumerate() {
                if !is_whole {
                    self.table(source, table, i)?;
                }
                is_whole |=
                    source.is_whole(table) && (*table != "event" || source.is_whole("body"));
            }
        }
        Ok(())
    }

    /// Takes over feeds and sessions, and notes which number each has here.
    fn owners(
        &mut self,
        source: &mut Source,
        is_whole: &HashSet<&str>,
        rank: usize,
    ) -> Result<(), StoreError> {
        for (name, key) in
            [("feed", &["connector", "name"][..]), ("session", &["origin", "agent", "native"][..])]
        {
            let table = source.table(self.db, name)?;
            let by_key = key.iter().map(|it| format!("{it} = ?")).collect::<Vec<_>>();
            let select = format!("SELECT id FROM {name} WHERE {}", by_key.join(" AND "));
            let mut numbers = HashMap::new();
            walk::rows(&source.db, &table, &mut |row| {
                let id: i64 = row.get("id")?;
                let values: Vec<Value> =
                    key.iter().map(|it| row.get(*it)).collect::<Result<_, _>>()?;
                if name == "session" && self.is_forgotten(row)? {
                    return Ok(());
                }
                let known = || {
                    let mut select = self.db.prepare_cached(&select)?;
                    let mut rows = select.query(params_from_iter(&values))?;
                    rows.next()?.map(|it| it.get::<_, i64>(0)).transpose()
                };
                if let Some(known) = known()? {
                    numbers.insert(id, known);
                } else if !is_whole.contains(name) {
                    let taken = self.insert(&table, row, &HashMap::from([("id", Value::Null)]))?;
                    if taken && let Some(known) = known()? {
                        numbers.insert(id, known);
                        // How far it had been read is lost.
                        if name == "feed" && 0 < rank {
                            self.losses.feeds.insert(known);
                        }
                    }
                }
                Ok(())
            })?;
            let place = if name == "feed" { &mut source.feeds } else { &mut source.sessions };
            *place = numbers;
        }
        Ok(())
    }

    fn is_forgotten(&self, row: &Row<'_>) -> rusqlite::Result<bool> {
        Ok(row.get::<_, String>("origin")?.is_empty()
            && self.forgotten.contains(&(row.get("agent")?, row.get("native")?)))
    }

    /// Takes over the rows of a table that refer to what is here.
    fn table(
        &mut self,
        source: &mut Source,
        name: &'static str,
        rank: usize,
    ) -> Result<(), StoreError> {
        let table = source.table(self.db, name)?;
        let mut bodies = HashMap::new();
        walk::rows(&source.db, &table, &mut |row| {
            // What this store is, no other may be.
            if name == "meta"
                && ["uuid", "secret"].contains(&row.get::<_, String>("name")?.as_str())
            {
                return Ok(());
            }
            let mut changed = HashMap::new();
            for (column, numbers) in [("feed", &source.feeds), ("session", &source.sessions)] {
                let Some(old) = table.has(column).then(|| row.get::<_, Option<i64>>(column)) else {
                    continue;
                };
                match old?.map(|it| numbers.get(&it)) {
                    Some(Some(new)) => drop(changed.insert(column, Value::Integer(*new))),
                    // An event may outlive the feed it was read from.
                    None | Some(None) if name == "event" && column == "feed" => {
                        changed.insert(column, Value::Null);
                    }
                    None | Some(None) => {
                        self.note_lost_session(&table, row, source)?;
                        return Ok(());
                    }
                }
            }
            let is_taken = match name {
                "archive" => self.archive(&table, row, &changed)?,
                "event" => self.event(source, &table, row, changed, &mut bodies, rank)?,
                _ => self.insert(&table, row, &changed)?,
            };
            if is_taken && name == "event" && 0 < rank {
                self.done.n_from_backup += 1;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// A row that refers to what is lost tells which feed has it.
    fn note_lost_session(
        &mut self,
        table: &Table,
        row: &Row<'_>,
        source: &Source,
    ) -> rusqlite::Result<()> {
        if table.has("feed") && table.has("session") {
            let feed = row.get::<_, Option<i64>>("feed")?;
            self.losses.feeds.extend(feed.and_then(|it| source.feeds.get(&it)));
        }
        Ok(())
    }

    /// A stretch that unpacks to its length and overlaps none that is here.
    fn archive(
        &mut self,
        table: &Table,
        row: &Row<'_>,
        changed: &HashMap<&'static str, Value>,
    ) -> rusqlite::Result<bool> {
        let (first, n_bytes): (i64, i64) = (row.get("first_byte")?, row.get("n_bytes")?);
        let is_sound = codec::unpack(&row.get::<_, Vec<u8>>("body")?)
            .is_ok_and(|it| i64::try_from(it.len()) == Ok(n_bytes));
        if !is_sound || first < 0 || n_bytes <= 0 {
            self.done.n_unusable += 1;
            return Ok(false);
        }
        let mut overlap = self.db.prepare_cached(
            "SELECT 1 FROM archive WHERE feed = ? AND generation = ?
             AND first_byte < ? AND ? < first_byte + n_bytes",
        )?;
        let generation: i64 = row.get("generation")?;
        let place = [&changed["feed"], &Value::Integer(generation)];
        let ends = [&Value::Integer(first.saturating_add(n_bytes)), &Value::Integer(first)];
        if overlap.exists(params_from_iter(place.into_iter().chain(ends)))? {
            return Ok(false);
        }
        self.insert(table, row, changed)
    }

    /// An event whose text can be read. Its number is made such that the events of both sources
    /// stand in one order; see [`mend::renumber`].
    fn event(
        &mut self,
        source: &Source,
        table: &Table,
        row: &Row<'_>,
        mut changed: HashMap<&'static str, Value>,
        bodies: &mut HashMap<i64, Option<Body>>,
        rank: usize,
    ) -> rusqlite::Result<bool> {
        let mut known =
            self.db.prepare_cached("SELECT 1 FROM event WHERE session = ? AND id = ?")?;
        let id: Value = row.get("id")?;
        if known.exists(params_from_iter([&changed["session"], &id]))? {
            return Ok(false);
        }
        if let Some(old) = row.get::<_, Option<i64>>("body")? {
            let body = *bodies.entry(old).or_insert_with(|| self.body(source, old));
            let end = row.get::<_, i64>("body_start")?.saturating_add(row.get("body_bytes")?);
            match body {
                Some(body) if end <= body.n_bytes => {
                    changed.insert("body", Value::Integer(body.id));
                }
                Some(_) | None => {
                    self.done.n_unusable += 1;
                    return Ok(false);
                }
            }
        }
        let rank = i64::try_from(rank).unwrap_or(1);
        let seq = row.get::<_, i64>("seq")?.saturating_mul(2).saturating_add(rank);
        changed.insert("seq", Value::Integer(seq));
        changed.insert("row", Value::Null);
        self.insert(table, row, &changed)
    }

    /// Takes over a page of texts, if it can be read.
    fn body(&self, source: &Source, id: i64) -> Option<Body> {
        let select = "SELECT data FROM body WHERE id = ?1";
        let packed: Vec<u8> =
            source.db.prepare_cached(select).ok()?.query_row([id], |row| row.get(0)).ok()?;
        let n_bytes = i64::try_from(codec::unpack(&packed).ok()?.len()).ok()?;
        let insert = "INSERT INTO body (data) VALUES (?1)";
        self.db.prepare_cached(insert).ok()?.execute([packed]).ok()?;
        Some(Body { id: self.db.last_insert_rowid(), n_bytes })
    }

    /// Inserts `row` with some values changed. Whether it was new, and such as a row may be.
    fn insert(
        &mut self,
        table: &Table,
        row: &Row<'_>,
        changed: &HashMap<&'static str, Value>,
    ) -> rusqlite::Result<bool> {
        let values: Vec<Value> = table
            .columns
            .iter()
            .map(|it| {
                changed.get(it.as_str()).map_or_else(|| row.get(it.as_str()), |v| Ok(v.clone()))
            })
            .collect::<Result<_, _>>()?;
        match self.db.prepare_cached(&table.insert())?.execute(params_from_iter(values)) {
            Ok(n) => Ok(n != 0),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                self.done.n_unusable += 1;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Body {
    id: i64,
    n_bytes: i64,
}

fn forgotten(source: &Source) -> Result<HashSet<(String, String)>, StoreError> {
    let mut found = HashSet::new();
    let table = Table::of_names("forgotten", &["agent", "native"], false);
    walk::rows(&source.db, &table, &mut |row| {
        found.insert((row.get(0)?, row.get(1)?));
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that a migration adds must be taken over too, or be known to be made anew.
    #[test]
    fn every_table_is_thought_of() {
        let mut db = Connection::open_in_memory().expect("opens");
        migrate::to_newest(&mut db, &mut |_, _| {}).expect("migrates");
        let mut select =
            db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").expect("prepares");
        let names = select.query_map([], |row| row.get::<_, String>(0)).expect("reads");
        for name in names {
            let name = name.expect("reads");
            let is_known = TABLES.contains(&name.as_str()) || OTHERS.contains(&name.as_str());
            assert!(is_known, "`{name}` would be lost by a repair");
        }
    }
}
