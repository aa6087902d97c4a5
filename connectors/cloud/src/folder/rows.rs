//! The rows of one session of one workspace.

use ai_hist_connector::{
    Membership,
    model::{EventId, SessionKey, Timestamp},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    backend::{Change, Held},
    hash::Hash,
    page::Page,
};

const SELECT_SESSION: &str = "
SELECT generation, n_events, n_bytes, head_hash, last_event, facts, updated_ms
FROM sessions WHERE workspace = ?1 AND source = ?2 AND session_id = ?3";

const SELECT_PAGE: &str = "
SELECT first_seq, n_events, first_byte, n_bytes, codec, sha256, chain, body
FROM pages
WHERE workspace = ?1 AND source = ?2 AND session_id = ?3 AND generation = ?4 AND first_seq <= ?5
ORDER BY first_seq DESC LIMIT 1";

const INSERT_WORKSPACE: &str = "
INSERT OR IGNORE INTO workspaces (workspace, created_ms) VALUES (?1, ?2)";

const UPSERT_SESSION: &str = "
INSERT INTO sessions (workspace, source, session_id, generation, n_events, n_bytes, head_hash,
                      last_event, facts, updated_ms, updated_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (workspace, source, session_id) DO UPDATE SET
    generation = excluded.generation, n_events = excluded.n_events, n_bytes = excluded.n_bytes,
    head_hash = excluded.head_hash, last_event = excluded.last_event, facts = excluded.facts,
    updated_ms = excluded.updated_ms, updated_by = excluded.updated_by";

const INHERIT_PAGES: &str = "
INSERT INTO pages (workspace, source, session_id, generation, first_seq, n_events, first_byte,
                   n_bytes, codec, sha256, chain, pushed_ms, pushed_by, body)
SELECT workspace, source, session_id, ?4, first_seq, n_events, first_byte,
       n_bytes, codec, sha256, chain, pushed_ms, pushed_by, body
FROM pages
WHERE workspace = ?1 AND source = ?2 AND session_id = ?3 AND generation = ?4 - 1
  AND first_seq < ?5";

const INSERT_PAGE: &str = "
INSERT INTO pages (workspace, source, session_id, generation, first_seq, n_events, first_byte,
                   n_bytes, codec, sha256, chain, pushed_ms, pushed_by, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// The rows of `session`, as far as `membership` goes.
pub(super) struct Rows<'a> {
    pub(super) db: &'a Connection,
    pub(super) membership: &'a Membership,
    pub(super) session: &'a SessionKey,
}

impl Rows<'_> {
    pub(super) fn held(&self) -> rusqlite::Result<Option<Held>> {
        let mut select = self.db.prepare_cached(SELECT_SESSION)?;
        select.query_row(self.key(), held).optional()
    }

    pub(super) fn page(&self, generation: u64, seq: u64) -> rusqlite::Result<Option<Page>> {
        // A number past what SQLite holds is past every page.
        let (Ok(generation), Ok(seq)) = (i64::try_from(generation), i64::try_from(seq)) else {
            return Ok(None);
        };
        let (workspace, source, session) = self.key();
        let mut select = self.db.prepare_cached(SELECT_PAGE)?;
        let found = select
            .query_row(params![workspace, source, session, generation, seq], page)
            .optional()?;
        Ok(found.filter(|it| seq.unsigned_abs() < it.end().seq))
    }

    pub(super) fn keep(&self, change: &Change) -> rusqlite::Result<()> {
        let Change { held, inherits_below, pages } = change;
        let (workspace, source, session) = self.key();
        let (at, by) = (held.updated.0, &self.membership.account);
        self.db.prepare_cached(INSERT_WORKSPACE)?.execute((workspace, at))?;
        if 0 < *inherits_below {
            self.db.prepare_cached(INHERIT_PAGES)?.execute(params![
                workspace,
                source,
                session,
                held.generation,
                inherits_below
            ])?;
        }
        let mut insert = self.db.prepare_cached(INSERT_PAGE)?;
        for page in pages {
            insert.execute(params![
                workspace,
                source,
                session,
                held.generation,
                page.first_seq,
                page.n_events,
                page.first_byte,
                page.n_bytes,
                page.codec,
                page.sha256.0,
                page.chain.0,
                at,
                by,
                page.body,
            ])?;
        }
        self.db.prepare_cached(UPSERT_SESSION)?.execute(params![
            workspace,
            source,
            session,
            held.generation,
            held.n_events,
            held.n_bytes,
            held.head.0,
            held.last.map(|it| *it.as_bytes()),
            held.facts,
            at,
            by,
        ])?;
        Ok(())
    }

    fn key(&self) -> (&str, &str, &str) {
        let SessionKey { agent, native } = self.session;
        (&self.membership.workspace, agent.as_str(), native.as_str())
    }
}

fn held(row: &Row<'_>) -> rusqlite::Result<Held> {
    Ok(Held {
        generation: row.get(0)?,
        n_events: row.get(1)?,
        n_bytes: row.get(2)?,
        head: Hash(row.get(3)?),
        last: row.get::<_, Option<[u8; 16]>>(4)?.map(EventId::from_bytes),
        facts: row.get(5)?,
        updated: Timestamp(row.get(6)?),
    })
}

fn page(row: &Row<'_>) -> rusqlite::Result<Page> {
    Ok(Page {
        first_seq: row.get(0)?,
        n_events: row.get(1)?,
        first_byte: row.get(2)?,
        n_bytes: row.get(3)?,
        codec: row.get(4)?,
        sha256: Hash(row.get(5)?),
        chain: Hash(row.get(6)?),
        body: row.get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_finds_its_rows_by_key() {
        let db = Connection::open_in_memory().expect("opens");
        db.execute_batch(include_str!("schema.sql")).expect("makes the tables");
        for sql in [
            SELECT_SESSION,
            SELECT_PAGE,
            INSERT_WORKSPACE,
            UPSERT_SESSION,
            INHERIT_PAGES,
            INSERT_PAGE,
        ] {
            let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("prepares");
            for i in 1..=explain.parameter_count() {
                explain.raw_bind_parameter(i, 1).expect("binds");
            }
            let mut steps = explain.raw_query();
            while let Some(step) = steps.next().expect("explains") {
                let step: String = step.get(3).expect("is text");
                assert!(!step.contains("SCAN") && !step.contains("TEMP"), "{sql}: {step}");
                if step.contains("pages") {
                    assert!(
                        step.contains("session_id=? AND generation=? AND first_seq<?"),
                        "{step}"
                    );
                }
            }
            // Every statement names the workspace, and takes it from the membership.
            assert!(sql.contains("workspace = ?1") || sql.contains("VALUES (?1,"), "{sql}");
        }
    }
}
