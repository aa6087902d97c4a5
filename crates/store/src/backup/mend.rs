//! Making one consistent store of rows that come from two files, and finding what it lacks.
//!
//! | a feed | is |
//! |---|---|
//! | lacks events or bytes, and its transcript is there | read from its beginning, as if rewritten |
//! | lacks events alone, and its transcript is gone | read again from the archive |
//! | lacks bytes, and its transcript is gone | left as it is, with blanks in the archive |

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use ai_hist_model::EventKind;
use rusqlite::{Connection, params};

use crate::{StoreError, codec, limits::MAX_CHUNK_BYTES};

/// What was found to be lacking.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mended {
    pub(super) n_blank_bytes: u64,
    pub(super) n_incomplete: u64,
}

/// What is known of the damaged file.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Feeds of which something is known to be lost.
    pub(super) feeds: HashSet<i64>,
    /// Which feed tells of which session cannot be read whole.
    pub(super) any_feed: bool,
    /// The end of a feed's archive may be lost.
    pub(super) any_end: bool,
}

/// Numbers the events of each session from zero on, and counts them.
pub(super) fn renumber(db: &Connection) -> Result<(), StoreError> {
    // By way of numbers below zero, since no two may be the same meanwhile.
    db.execute_batch(
        "UPDATE event SET seq = -1 - placed.n FROM (
             SELECT row AS at, row_number() OVER (PARTITION BY session ORDER BY seq) - 1 AS n
             FROM event) AS placed
         WHERE event.row = placed.at;
         UPDATE event SET seq = -1 - seq;",
    )?;
    // The rows of a session that lacks some are counted anew, and copies in it are looked for again.
    let counts = "
        UPDATE session SET n_events = found.n, n_prompts = found.n_prompts,
            n_copied = found.n_copied, settled = 0
        FROM (SELECT session.id AS at, count(event.row) AS n,
                  coalesce(sum(event.kind = ?1 AND event.copied < 2), 0) AS n_prompts,
                  coalesce(sum(event.copied = 2), 0) AS n_copied
              FROM session LEFT JOIN event ON event.session = session.id GROUP BY 1) AS found
        WHERE session.id = found.at AND session.n_events <> found.n";
    db.execute(counts, [EventKind::Prompt as i64])?;
    Ok(())
}

/// Sessions and events.
pub(super) fn count(db: &Connection) -> Result<(u64, u64), StoreError> {
    let count = "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM event)";
    Ok(db.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Fills the holes of the archive, and marks the feeds that have to be read again. Before the
/// events are counted anew: the number that a session had tells whether it lacks some.
pub(super) fn feeds(db: &Connection, losses: &Losses) -> Result<Mended, StoreError> {
    let mut mended = Mended::default();
    let short = "
        SELECT DISTINCT link.feed FROM feed_session AS link JOIN session ON session.id = link.session
        WHERE session.n_events <> (SELECT count(*) FROM event WHERE event.session = session.id)";
    let mut select = db.prepare(short)?;
    let short: HashSet<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut select = db.prepare("SELECT id, generation, path, n_bytes, n_rest FROM feed")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let feed = Feed {
            id: row.get(0)?,
            generation: row.get(1)?,
            path: row.get(2)?,
            n_bytes: row.get(3)?,
            n_rest: row.get(4)?,
        };
        let n_blank = fill(db, &feed)?;
        mended.n_blank_bytes += n_blank;
        let lacks_bytes = n_blank != 0 || (losses.any_end && !feed.is_at_its_end(db)?);
        let lacks_events =
            losses.any_feed || losses.feeds.contains(&feed.id) || short.contains(&feed.id);
        if lacks_bytes || lacks_events {
            feed.mark(db, lacks_bytes)?;
            mended.n_incomplete += 1;
        }
    }
    Ok(mended)
}

struct Feed {
    id: i64,
    generation: i64,
    path: Option<String>,
    n_bytes: Option<i64>,
    n_rest: i64,
}

impl Feed {
    /// Whether the archive ends where the file did when its end was last reached. Cannot be told of
    /// one that is compressed or is no file: then it is read again.
    fn is_at_its_end(&self, db: &Connection) -> Result<bool, StoreError> {
        let sum =
            "SELECT coalesce(sum(n_bytes), 0) FROM archive WHERE feed = ?1 AND generation = ?2";
        let n_kept: i64 = db.query_row(sum, (self.id, self.generation), |row| row.get(0))?;
        Ok(self.n_bytes.is_some_and(|it| it == n_kept.saturating_add(self.n_rest)))
    }

    fn mark(&self, db: &Connection, lacks_bytes: bool) -> Result<(), StoreError> {
        let is_there = self.path.as_ref().is_none_or(|it| Path::new(it).exists());
        if is_there {
            db.execute(
                "UPDATE feed SET generation = generation + 1, cursor = NULL, n_bytes = NULL,
                     modified_ms = NULL, changed = NULL, rest = NULL, n_rest = 0
                 WHERE id = ?1 AND hidden = 0",
                [self.id],
            )?;
        } else if !lacks_bytes {
            // What it was read with is another version than any.
            db.execute("UPDATE feed SET reading = 0 WHERE id = ?1 AND hidden = 0", [self.id])?;
        }
        Ok(())
    }
}

/// Fills the holes in what is archived of a feed with blanks, so that all else stays where it is.
/// Gives how many bytes these are.
fn fill(db: &Connection, feed: &Feed) -> Result<u64, StoreError> {
    let mut select = db.prepare_cached(
        "SELECT generation, first_byte, n_bytes FROM archive
         WHERE feed = ?1 ORDER BY generation, first_byte",
    )?;
    let mut ends: HashMap<i64, i64> = HashMap::new();
    let mut holes = Vec::new();
    let mut rows = select.query([feed.id])?;
    while let Some(row) = rows.next()? {
        let (generation, first, n_bytes): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let end = ends.entry(generation).or_default();
        if *end < first {
            holes.push((generation, *end, first));
        }
        *end = (*end).max(first.saturating_add(n_bytes));
    }
    let mut n_blank = 0;
    for (generation, from, to) in holes {
        blank(db, feed.id, generation, from..to)?;
        n_blank += (to - from).unsigned_abs();
    }
    Ok(n_blank)
}

fn blank(
    db: &Connection,
    feed: i64,
    generation: i64,
    hole: std::ops::Range<i64>,
) -> Result<(), StoreError> {
    let longest = i64::try_from(MAX_CHUNK_BYTES).unwrap_or(i64::MAX);
    let mut at = hole.start;
    while at < hole.end {
        let n_bytes = (hole.end - at).min(longest);
        let mut bytes = vec![b' '; usize::try_from(n_bytes).unwrap_or_default()];
        // What follows may be whole records: they begin on a line of their own.
        if at + n_bytes == hole.end
            && let Some(last) = bytes.last_mut()
        {
            *last = b'\n';
        }
        db.prepare_cached(
            "INSERT INTO archive (feed, generation, first_byte, n_bytes, body)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![feed, generation, at, n_bytes, codec::pack(&bytes)?])?;
        at += n_bytes;
    }
    Ok(())
}
