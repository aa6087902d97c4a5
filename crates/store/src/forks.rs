//! Recognising what one session copied from another, so that it counts and is found once.
//!
//! Agents copy: a fork begins with the records of the session it comes from. All of it stays in the
//! fork, which is not whole without; but the copies are marked, not counted and not indexed, as long
//! as the other session has them.
//!
//! | the transcript | the copies are |
//! |---|---|
//! | copies records with their names (Claude Code) | events with the same name as one of the other |
//! | copies records under new names (Codex until 0.146) | marked by the connector |

use ai_hist_model::{EventId, SessionId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    StoreError, account,
    limits::{MAX_FAMILY, MAX_SETTLED_SESSIONS},
    statements as sql,
};

/// An event's name, whatever session it stands in.
pub(crate) fn name(event: EventId, session: SessionId) -> EventId {
    event.within(session, SessionId::from_bytes([0; 16]))
}

/// Looks for copies in the sessions that `feed` tells of.
pub(crate) fn settle_feed(db: &Connection, feed: i64) -> Result<(), StoreError> {
    let sessions = account::sessions_of_feed(db, feed)?;
    if sessions.len() <= MAX_SETTLED_SESSIONS {
        for session in sessions {
            settle(db, session)?;
        }
    }
    Ok(())
}

/// A session that may have copied, or been copied.
struct Member {
    row: i64,
    id: SessionId,
    agent: String,
    native: String,
    parent: Option<(String, String)>,
    ended_ms: i64,
    settled: i64,
    n_events: i64,
}

impl Member {
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let parent: Option<String> = row.get("parent_agent")?;
        let native: Option<String> = row.get("parent_native")?;
        Ok(Self {
            row: row.get("id")?,
            id: SessionId::from_bytes(row.get("uuid")?),
            agent: row.get("agent")?,
            native: row.get("native")?,
            parent: parent.zip(native),
            ended_ms: row.get("ended_ms")?,
            settled: row.get("settled")?,
            n_events: row.get("n_events")?,
        })
    }

    fn is_parent_of(&self, other: &Self) -> bool {
        let parent = other.parent.as_ref();
        parent.is_some_and(|it| it.0 == self.agent && it.1 == self.native)
    }

    /// Whether this one is the original rather than `other`: because the transcript says so, else
    /// because it ended first.
    fn is_before(&self, other: &Self) -> bool {
        if self.is_parent_of(other) != other.is_parent_of(self) {
            return self.is_parent_of(other);
        }
        (self.ended_ms, self.n_events, &self.native)
            < (other.ended_ms, other.n_events, &other.native)
    }
}

fn settle(db: &Connection, session: i64) -> Result<(), StoreError> {
    let mut select = db.prepare_cached(sql::SELECT_FAMILY)?;
    let family: Vec<Member> =
        select.query_map([session], Member::read)?.collect::<Result<_, _>>()?;
    if !(2..=MAX_FAMILY).contains(&family.len()) {
        return Ok(());
    }
    let is_new = family.iter().any(|it| it.row == session && it.settled == 0);
    for member in &family {
        let elders: Vec<&Member> =
            family.iter().filter(|it| it.row != member.row && it.is_before(member)).collect();
        // Another member's copies are known already, unless this session is new to the family.
        if (is_new || member.row == session) && !elders.is_empty() {
            let from = if is_new { 0 } else { member.settled };
            mark(db, member, &elders, from)?;
        }
    }
    Ok(())
}

/// Marks what `member` has from its `elders`.
fn mark(db: &Connection, member: &Member, elders: &[&Member], from: i64) -> Result<(), StoreError> {
    let mut n_marked = 0;
    let mut closest: Option<(usize, &Member)> = None;
    let events: Vec<(i64, EventId, bool)> = db
        .prepare_cached(sql::SELECT_UNCOPIED)?
        .query_map((member.row, from), |row| {
            Ok((row.get(0)?, EventId::from_bytes(row.get(1)?), row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    for elder in elders {
        let mut n_shared = 0;
        for (row, id, is_stated) in &events {
            let theirs = id.within(member.id, elder.id);
            let is_shared = (*is_stated && elder.is_parent_of(member) && 0 < elder.n_events)
                || db
                    .prepare_cached(sql::SELECT_EVENT_BY_ID)?
                    .query_row((elder.row, theirs.as_bytes()), |_| Ok(()))
                    .optional()?
                    .is_some();
            if is_shared {
                n_shared += 1;
                n_marked += db.prepare_cached(sql::UPDATE_EVENT_COPIED)?.execute([row])?;
            }
        }
        if closest.is_none_or(|it| it.0 < n_shared) && 0 < n_shared {
            closest = Some((n_shared, elder));
        }
        db.prepare_cached(sql::DELETE_SHARED_USAGE)?.execute((member.row, elder.row))?;
    }
    if let Some((_, parent)) = closest
        && member.parent.is_none()
    {
        let parameters = (member.row, &parent.agent, &parent.native);
        db.prepare_cached(sql::UPDATE_SESSION_FORK)?.execute(parameters)?;
    }
    if 0 < n_marked {
        db.prepare_cached(sql::INSERT_REINDEX)?.execute([member.row])?;
        db.prepare_cached(sql::UPDATE_SESSION_COPIED)?.execute([member.row])?;
    }
    db.prepare_cached(sql::UPDATE_SESSION_SETTLED)?
        .execute(params![member.row, member.n_events])?;
    Ok(())
}

/// Before `session` is removed: what others have copied from it is theirs alone now.
pub(crate) fn release(db: &Connection, session: i64) -> Result<(), StoreError> {
    let mut select = db.prepare_cached(sql::SELECT_FAMILY)?;
    let family: Vec<Member> =
        select.query_map([session], Member::read)?.collect::<Result<_, _>>()?;
    for member in family.iter().filter(|it| it.row != session) {
        db.prepare_cached(sql::CLEAR_EVENTS_COPIED)?.execute([member.row])?;
        db.prepare_cached(sql::UPDATE_SESSION_COPIED)?.execute([member.row])?;
        db.prepare_cached(sql::UPDATE_SESSION_SETTLED)?.execute((member.row, 0))?;
        db.prepare_cached(sql::INSERT_REINDEX)?.execute([member.row])?;
    }
    Ok(())
}
