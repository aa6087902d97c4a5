//! Keeping out what the user wants kept out.

use std::collections::HashSet;

use ai_hist_model::{Batch, SessionFacts, SessionId};
use rusqlite::Connection;

use crate::{
    Origin, StoreError, account,
    erase::{self, Hidden},
    sessions, statements as sql,
};

/// What the user wants kept out, as it stands in this transaction.
pub(crate) struct Screen {
    exclusions: Vec<String>,
    has_forgotten: bool,
}

/// What may be taken in.
pub(crate) enum Screened {
    /// All of it.
    Whole,
    /// This.
    Part(Box<Batch>),
    /// Nothing, and the feed is left unread.
    Nothing,
}

impl Screen {
    pub(crate) fn load(db: &Connection) -> Result<Self, StoreError> {
        let mut select = db.prepare_cached(sql::whole::SELECT_EXCLUSIONS)?;
        let exclusions = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut select = db.prepare_cached(sql::whole::SELECT_ANY_FORGOTTEN)?;
        Ok(Self { exclusions, has_forgotten: select.exists([])? })
    }

    /// What of `batch`, which begins at the byte `base` of its feed, may be taken in.
    ///
    /// A feed of which nothing may be taken in is left unread from now on. In a feed that tells of
    /// others too, every byte that belongs to no event that may be read is blanked.
    pub(crate) fn batch(
        &self,
        db: &Connection,
        feed: i64,
        base: u64,
        origin: &Origin,
        batch: &Batch,
    ) -> Result<Screened, StoreError> {
        if !origin.is_local() || (self.exclusions.is_empty() && !self.has_forgotten) {
            return Ok(Screened::Whole);
        }
        let mut hidden = HashSet::new();
        let mut why = None;
        for facts in &batch.sessions {
            if let Some(reason) = self.reason(db, facts)? {
                hidden.insert(facts.key.id());
                why = Some(reason);
            }
        }
        let Some(why) = why else { return Ok(Screened::Whole) };
        for facts in batch.sessions.iter().filter(|it| hidden.contains(&it.key.id())) {
            // It turned out later than its beginning that it is to be kept out.
            if let Some(known) = sessions::id_of(db, origin, facts.key.id())? {
                erase::session(db, known.row, facts.key.native.as_str(), why)?;
            }
        }
        if batch.sessions.len() == 1 && account::sessions_of_feed(db, feed)?.is_empty() {
            erase::whole_feed(db, feed, why)?;
            return Ok(Screened::Nothing);
        }
        Ok(Screened::Part(Box::new(without(batch, base, &hidden))))
    }

    fn reason(&self, db: &Connection, facts: &SessionFacts) -> Result<Option<Hidden>, StoreError> {
        if let Some(cwd) = &facts.cwd
            && self.exclusions.iter().any(|it| is_within(cwd, it))
        {
            return Ok(Some(Hidden::Excluded));
        }
        let key = (facts.key.agent.as_str(), facts.key.native.as_str());
        let mut select = db.prepare_cached(sql::SELECT_FORGOTTEN)?;
        Ok((self.has_forgotten && select.exists(key)?).then_some(Hidden::Forgotten))
    }
}

/// Whether `path` is `folder` or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches(['/', '\\']));
    rest.is_some_and(|it| it.is_empty() || it.starts_with(['/', '\\']))
}

/// `batch` with nothing of the sessions that are `hidden`.
fn without(batch: &Batch, base: u64, hidden: &HashSet<SessionId>) -> Batch {
    let mut kept = batch.clone();
    kept.sessions.retain(|it| !hidden.contains(&it.key.id()));
    kept.events.retain(|it| !hidden.contains(&it.session));
    kept.usage.retain(|it| !hidden.contains(&it.session));
    let n_raw = kept.raw.len();
    for byte in kept.raw.iter_mut().filter(|it| **it != b'\n') {
        *byte = b' ';
    }
    for event in &kept.events {
        let place = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(n_raw).min(n_raw);
        let start = place(event.span.first_byte);
        let end = place(event.span.first_byte.saturating_add(event.span.n_bytes));
        kept.raw[start..end].copy_from_slice(&batch.raw[start..end]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_itself_and_what_is_below_it() {
        for (path, expected) in [
            ("/home/a/private", true),
            ("/home/a/private/x", true),
            ("/home/a/private-not", false),
            ("/home/a", false),
        ] {
            assert_eq!(is_within(path, "/home/a/private/"), expected, "`{path}`");
        }
        assert!(is_within(r"C:\work\x", r"C:\work"));
    }
}
