//! Removing, because the user said so or because a copy is replaced.

use ai_hist_model::{SessionKey, Timestamp};
use rusqlite::Connection;

use crate::{
    FeedAccount, Origin, SessionRow, Store, StoreError, StoredSession, Writer, account, archive,
    forks, sessions, statements as sql,
};

/// What forgetting removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Erased {
    /// Sessions.
    pub n_sessions: u64,
    /// Events.
    pub n_events: u64,
    /// Transcripts whose bytes were removed, whole or in part.
    pub n_feeds: u64,
}

/// Why a feed is left unread. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// Its place is excluded.
    Excluded = 1,
    /// Its session was forgotten.
    Forgotten = 2,
}

/// Removes the events of a session; what is known about it stays.
pub(crate) fn events(db: &Connection, session: i64) -> Result<u64, StoreError> {
    let bodies: Vec<i64> = db
        .prepare_cached(sql::SELECT_SESSION_BODIES)?
        .query_map([session], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let n_events = db.prepare_cached(sql::DELETE_SESSION_EVENTS)?.execute([session])?;
    db.prepare_cached(sql::DELETE_SESSION_USAGE)?.execute([session])?;
    db.prepare_cached(sql::DELETE_SESSION_BEGINNING)?.execute([session])?;
    for body in bodies {
        db.prepare_cached(sql::DELETE_BODY)?.execute([body])?;
    }
    db.prepare_cached(sql::CLEAR_SESSION_COUNTS)?.execute([session])?;
    db.prepare_cached(sql::INSERT_REINDEX)?.execute([session])?;
    Ok(n_events as u64)
}

/// Removes a session and every byte that was read of it.
pub(crate) fn session(
    db: &Connection,
    session: i64,
    native: &str,
    why: Hidden,
) -> Result<Erased, StoreError> {
    forks::release(db, session)?;
    let mut erased = Erased { n_sessions: 1, ..Erased::default() };
    for feed in account::feeds_of_session(db, session)? {
        erased.n_feeds += 1;
        let n_others: i64 = db
            .prepare_cached(sql::COUNT_OTHER_SESSIONS_OF_FEED)?
            .query_row((feed, session), |row| row.get(0))?;
        if n_others == 0 {
            whole_feed(db, feed, why)?;
        } else {
            lines(db, feed, session, native)?;
        }
        db.prepare_cached(sql::DELETE_FEED_SESSION)?.execute((feed, session))?;
    }
    erased.n_events = events(db, session)?;
    db.prepare_cached(sql::DELETE_SESSION)?.execute([session])?;
    Ok(erased)
}

/// Removes what was read of a feed, and leaves it unread from now on.
pub(crate) fn whole_feed(db: &Connection, feed: i64, why: Hidden) -> Result<(), StoreError> {
    db.prepare_cached(sql::DELETE_FEED_ARCHIVE)?.execute([feed])?;
    db.prepare_cached(sql::DELETE_FEED_TALLY)?.execute([feed])?;
    db.prepare_cached(sql::DELETE_FEED_SKIPPED)?.execute([feed])?;
    db.prepare_cached(sql::UPDATE_FEED_HIDDEN)?.execute((feed, why as i64))?;
    Ok(())
}

/// Lets the feeds be read again that were left unread because of `why`.
fn unhide(db: &Connection, why: Hidden) -> Result<(), StoreError> {
    db.prepare_cached(sql::whole::UNHIDE_FEEDS)?.execute([why as i64])?;
    Ok(())
}

/// Blanks the lines of a feed that are the session's or name it, and are no other session's.
fn lines(db: &Connection, feed: i64, session: i64, native: &str) -> Result<(), StoreError> {
    let chunks: Vec<(i64, i64)> = db
        .prepare_cached(sql::SELECT_CHUNKS_OF_FEED)?
        .query_map([feed], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    // A line may go on from one chunk to the next: whole generations are looked at.
    let mut generations: Vec<i64> = chunks.iter().map(|it| it.0).collect();
    generations.dedup();
    for generation in generations {
        let mut raw = Vec::new();
        for (_, first_byte) in chunks.iter().filter(|it| it.0 == generation) {
            raw.extend(archive::chunk(db, feed, generation, *first_byte)?);
        }
        let mut others = Vec::new();
        let mut select = db.prepare_cached(sql::SELECT_SPANS_OF_OTHERS)?;
        for first_byte in
            select.query_map((feed, session, generation), |row| row.get::<_, i64>(0))?
        {
            others.push(usize::try_from(first_byte?).unwrap_or(usize::MAX));
        }
        others.sort_unstable();
        if 0 < blank_lines(&mut raw, native, &others) {
            archive::replace(db, feed, generation, &raw)?;
        }
    }
    db.prepare_cached(sql::CLEAR_REST)?.execute([feed])?;
    Ok(())
}

/// Replaces by spaces every line of `raw` that holds `word`, but for those that begin at one of
/// `kept`, which is sorted. All others stay where they are. Gives how many were replaced.
fn blank_lines(raw: &mut [u8], word: &str, kept: &[usize]) -> usize {
    let finder = memchr::memmem::Finder::new(word);
    let mut n_blanked = 0;
    let mut start = 0;
    for line in raw.split_mut(|it| *it == b'\n') {
        let end = start + line.len();
        let is_kept = kept.iter().skip(kept.partition_point(|it| *it < start)).any(|it| *it <= end);
        if !is_kept && finder.find(line).is_some() {
            line.fill(b' ');
            n_blanked += 1;
        }
        start = end + 1;
    }
    n_blanked
}

impl Writer<'_> {
    /// Removes a session of this machine and every byte that was read of it, and remembers that it
    /// is not to be read again, also where its transcript is still there.
    pub fn forget(&mut self, key: &SessionKey, now: Timestamp) -> Result<Erased, StoreError> {
        // What is removed is overwritten, not only unlinked.
        self.db.pragma_update(None, "secure_delete", "ON")?;
        let done = self.forget_securely(key, now);
        self.db.pragma_update(None, "secure_delete", "OFF")?;
        done
    }

    fn forget_securely(&mut self, key: &SessionKey, now: Timestamp) -> Result<Erased, StoreError> {
        let transaction = self.begin()?;
        let parameters = (key.agent.as_str(), key.native.as_str(), now.0);
        transaction.prepare_cached(sql::INSERT_FORGOTTEN)?.execute(parameters)?;
        let found = sessions::id_of(&transaction, &Origin::local(), key.id())?;
        let erased = match found {
            Some(found) => {
                session(&transaction, found.row, key.native.as_str(), Hidden::Forgotten)?
            }
            None => Erased::default(),
        };
        transaction.commit()?;
        Ok(erased)
    }

    /// Lets a forgotten session be read again, if its transcript is still there.
    pub fn remember(&mut self, key: &SessionKey) -> Result<bool, StoreError> {
        let transaction = self.begin()?;
        let parameters = (key.agent.as_str(), key.native.as_str());
        let n = transaction.prepare_cached(sql::DELETE_FORGOTTEN)?.execute(parameters)?;
        if 0 < n {
            // Which feed it was is not kept: all that were hidden for this reason are looked at
            // again, and those of sessions that stay forgotten are hidden again.
            unhide(&transaction, Hidden::Forgotten)?;
        }
        transaction.commit()?;
        Ok(0 < n)
    }

    /// Leaves unread what happens in `path` and below from now on. What was read stays.
    pub fn exclude(&mut self, path: &str) -> Result<bool, StoreError> {
        let transaction = self.begin()?;
        let n = transaction.prepare_cached(sql::INSERT_EXCLUSION)?.execute([path])?;
        transaction.commit()?;
        Ok(0 < n)
    }

    /// Takes back [`Writer::exclude`]: what was left unread is read by the next sync.
    pub fn include(&mut self, path: &str) -> Result<bool, StoreError> {
        let transaction = self.begin()?;
        let n = transaction.prepare_cached(sql::DELETE_EXCLUSION)?.execute([path])?;
        if 0 < n {
            unhide(&transaction, Hidden::Excluded)?;
        }
        transaction.commit()?;
        Ok(0 < n)
    }
}

impl Store {
    /// The working directories that are left unread.
    pub fn exclusions(&self) -> Result<Vec<String>, StoreError> {
        let db = self.connection()?;
        let mut select = db.prepare_cached(sql::whole::SELECT_EXCLUSIONS)?;
        let paths = select.query_map([], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }

    /// Sessions of this machine that ended before `before` and, if given, worked in `project` or
    /// below it.
    pub fn sessions_to_forget(
        &self,
        project: Option<&str>,
        before: Timestamp,
    ) -> Result<Vec<StoredSession>, StoreError> {
        let project = project.map(|it| it.trim_end_matches('/'));
        let db = self.connection()?;
        sessions::many(&db, sql::whole::SELECT_SESSIONS_TO_FORGET, (project, before.0))
    }

    /// The sessions that a feed tells of.
    pub fn sessions_of_feed(&self, feed: i64) -> Result<Vec<SessionRow>, StoreError> {
        let rows = account::sessions_of_feed(&*self.connection()?, feed)?;
        Ok(rows.into_iter().map(SessionRow).collect())
    }

    /// Empties the log that SQLite writes ahead: what it holds of what was removed is gone then.
    /// While others read, some of it stays until they are done.
    pub fn flush_log(&self) -> Result<(), StoreError> {
        let db = self.connection()?;
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// The feeds that tell of a session.
    pub fn feeds_of_session(&self, session: SessionRow) -> Result<Vec<FeedAccount>, StoreError> {
        let db = self.connection()?;
        account::read_feeds(&db, sql::SELECT_FEED_ROWS_OF_SESSION, [session.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_name_it_are_blanked_and_none_moves() {
        let text = b"{\"s\":\"a-1\"}\n{\"s\":\"b-2\"}\n{\"x\":\"a-1\"\n";
        let mut raw = text.to_vec();
        assert_eq!(blank_lines(&mut raw, "a-1", &[]), 2);
        assert_eq!(raw, b"           \n{\"s\":\"b-2\"}\n          \n");
        assert_eq!(blank_lines(&mut raw, "a-1", &[]), 0);
        let mut raw = text.to_vec();
        assert_eq!(blank_lines(&mut raw, "a-1", &[24]), 1, "another session's names it");
        assert_eq!(raw, b"           \n{\"s\":\"b-2\"}\n{\"x\":\"a-1\"\n");
    }
}
