//! Every statement, by name: so that each is prepared, and its plan read, by a test.

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:literal;)*) => {
        $($(#[$doc])* pub(crate) const $name: &str = $sql;)*
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name),)*];
    };
}

statements! {
    SELECT_META = "SELECT value FROM meta WHERE name = ?1";
    INSERT_META = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

    /// A feed is known from the first time it is read.
    INSERT_FEED = "INSERT INTO feed (connector, name, path, reading) VALUES (?1, ?2, ?3, ?4)";
    SELECT_FEED = "
        SELECT id, connector, name, path, generation, cursor, n_bytes, modified_ms, changed, gone,
               problem, n_rest, reading, hidden
        FROM feed WHERE connector = ?1 AND name = ?2";
    SELECT_FEED_BY_ID = "
        SELECT id, connector, name, path, generation, cursor, n_bytes, modified_ms, changed, gone,
               problem, n_rest, reading, hidden
        FROM feed WHERE id = ?1";
    UPDATE_FEED_PATH = "UPDATE feed SET path = ?2, gone = 0 WHERE id = ?1";
    UPDATE_FEED_CURSOR = "
        UPDATE feed SET cursor = ?2, generation = ?3, reading = ?4, rest = NULL, n_rest = 0
        WHERE id = ?1";
    /// Read again from the archive; the torn end is not in there.
    UPDATE_FEED_REPLAYED = "UPDATE feed SET cursor = ?2, reading = ?3 WHERE id = ?1";
    UPDATE_FEED_READING = "UPDATE feed SET reading = ?2 WHERE id = ?1";
    /// The end of a pass.
    UPDATE_FEED_END = "
        UPDATE feed SET n_bytes = ?2, modified_ms = ?3, changed = ?4, rest = ?5, n_rest = ?6,
            problem = NULL
        WHERE id = ?1";
    UPDATE_FEED_HIDDEN = "
        UPDATE feed SET hidden = ?2, cursor = NULL, rest = NULL, n_rest = 0, n_bytes = NULL,
            generation = 0, problem = NULL
        WHERE id = ?1";
    CLEAR_REST = "UPDATE feed SET rest = NULL, n_rest = 0 WHERE id = ?1";
    UPDATE_FEED_PROBLEM = "UPDATE feed SET problem = ?2 WHERE id = ?1";
    UPDATE_FEED_GONE = "UPDATE feed SET gone = ?2 WHERE id = ?1 AND gone <> ?2";
    /// All feeds of a connector: there are as many as its agent has files.
    SELECT_FEEDS_OF_CONNECTOR = "
        SELECT id, connector, name, path, generation, cursor, n_bytes, modified_ms, changed, gone,
               problem, n_rest, reading, hidden
        FROM feed WHERE connector = ?1 ORDER BY name";

    /// What a feed tells of.
    INSERT_FEED_SESSION = "
        INSERT INTO feed_session (feed, session) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    SELECT_SESSIONS_OF_FEED = "SELECT session FROM feed_session WHERE feed = ?1";
    SELECT_FEEDS_OF_SESSION = "SELECT feed FROM feed_session WHERE session = ?1";
    COUNT_OTHER_SESSIONS_OF_FEED = "
        SELECT count(*) FROM feed_session WHERE feed = ?1 AND session <> ?2";
    DELETE_FEED_SESSION = "DELETE FROM feed_session WHERE feed = ?1 AND session = ?2";
    SELECT_FEED_ROWS_OF_SESSION = "
        SELECT id, connector, name, path, generation, cursor, n_bytes, modified_ms, changed, gone,
               problem, n_rest, reading, hidden
        FROM feed_session JOIN feed ON feed.id = feed_session.feed
        WHERE feed_session.session = ?1 ORDER BY feed.id";

    UPSERT_TALLY = "
        INSERT INTO tally (feed, generation, class, kind, n, example)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (feed, generation, class, kind) DO UPDATE SET
            n = n + excluded.n, example = coalesce(example, excluded.example)";
    SELECT_TALLY = "
        SELECT class, kind, n, example FROM tally WHERE feed = ?1 AND generation = ?2";
    DELETE_FEED_TALLY = "DELETE FROM tally WHERE feed = ?1";
    DELETE_FEED_SKIPPED = "DELETE FROM skipped WHERE feed = ?1";
    INSERT_SKIPPED = "
        INSERT INTO skipped (feed, generation, locator, reason)
        SELECT ?1, ?2, ?3, ?4
        WHERE (SELECT count(*) FROM skipped WHERE feed = ?1 AND generation = ?2) < ?5";
    SELECT_SKIPPED = "
        SELECT locator, reason FROM skipped WHERE feed = ?1 AND generation = ?2 ORDER BY rowid";

    INSERT_ARCHIVE = "
        INSERT OR REPLACE INTO archive (feed, generation, first_byte, n_bytes, body)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    SELECT_LAST_CHUNK = "
        SELECT first_byte, n_bytes FROM archive
        WHERE feed = ?1 AND generation = ?2 ORDER BY first_byte DESC LIMIT 1";
    SELECT_CHUNK = "
        SELECT body FROM archive WHERE feed = ?1 AND generation = ?2 AND first_byte = ?3";
    SELECT_CHUNK_AT = "
        SELECT first_byte, body FROM archive
        WHERE feed = ?1 AND generation = ?2 AND first_byte <= ?3
        ORDER BY first_byte DESC LIMIT 1";
    SELECT_CHUNKS_OF_FEED = "
        SELECT generation, first_byte FROM archive WHERE feed = ?1
        ORDER BY generation, first_byte";
    /// Where the records begin that other sessions have from a feed.
    SELECT_SPANS_OF_OTHERS = "
        SELECT event.first_byte FROM feed_session
        JOIN event ON event.session = feed_session.session
        WHERE feed_session.feed = ?1 AND feed_session.session <> ?2
            AND event.feed = ?1 AND event.generation = ?3";
    DELETE_GENERATION = "DELETE FROM archive WHERE feed = ?1 AND generation = ?2";
    DELETE_FEED_ARCHIVE = "DELETE FROM archive WHERE feed = ?1";
    SELECT_ARCHIVE = "
        SELECT first_byte, body FROM archive
        WHERE feed = ?1 AND generation = ?2 AND ?3 <= first_byte ORDER BY first_byte LIMIT 1";
    SELECT_REST = "SELECT rest FROM feed WHERE id = ?1 AND generation = ?2";

    /// Accumulates facts: see `SessionFacts` for which statement stands.
    UPSERT_SESSION = "
        INSERT INTO session (origin, agent, native, title, title_rank, cwd, git_branch, git_commit,
            git_remote, agent_version, originator, nickname, parent_agent, parent_native, relation,
            uuid)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
        ON CONFLICT (origin, agent, native) DO UPDATE SET
            title         = CASE WHEN title_rank <= excluded.title_rank
                            THEN coalesce(excluded.title, title) ELSE title END,
            title_rank    = max(title_rank, excluded.title_rank),
            cwd           = coalesce(cwd, excluded.cwd),
            git_branch    = coalesce(excluded.git_branch, git_branch),
            git_commit    = coalesce(excluded.git_commit, git_commit),
            git_remote    = coalesce(excluded.git_remote, git_remote),
            agent_version = coalesce(excluded.agent_version, agent_version),
            originator    = coalesce(originator, excluded.originator),
            nickname      = coalesce(excluded.nickname, nickname),
            parent_agent  = coalesce(excluded.parent_agent, parent_agent),
            parent_native = coalesce(excluded.parent_native, parent_native),
            relation      = coalesce(excluded.relation, relation)
        RETURNING id";
    SELECT_SESSION_ID = "
        SELECT id, n_events FROM session WHERE origin = ?1 AND uuid = ?2";
    UPDATE_SESSION_COUNTS = "
        UPDATE session SET
            n_events     = ?2,
            n_prompts    = n_prompts + ?3,
            first_prompt = coalesce(first_prompt, ?4),
            started_ms   = min(coalesce(started_ms, ?5), coalesce(?5, started_ms)),
            ended_ms     = max(ended_ms, coalesce(?6, 0))
        WHERE id = ?1";
    UPDATE_SESSION_REVISION = "UPDATE session SET revision = ?2 WHERE id = ?1";
    CLEAR_SESSION_COUNTS = "
        UPDATE session SET n_events = 0, n_prompts = 0, first_prompt = NULL, started_ms = NULL,
            ended_ms = 0, revision = NULL, n_copied = 0, settled = 0
        WHERE id = ?1";
    DELETE_SESSION = "DELETE FROM session WHERE id = ?1";
    DELETE_SESSION_BEGINNING = "DELETE FROM beginning WHERE session = ?1";

    INSERT_BEGINNING = "
        INSERT INTO beginning (name, session) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    /// A session with those that share an event's name with it, the one it says it comes from, and
    /// those that say they come from it.
    SELECT_FAMILY = "
        SELECT id, uuid, agent, native, parent_agent, parent_native, ended_ms, settled, n_events
        FROM session
        WHERE origin = '' AND id IN (
            SELECT ?1
            UNION SELECT theirs.session FROM beginning ours
                JOIN beginning theirs ON theirs.name = ours.name
                WHERE ours.session = ?1
            UNION SELECT parent.id FROM session child
                JOIN session parent ON parent.origin = '' AND parent.agent = child.parent_agent
                    AND parent.native = child.parent_native
                WHERE child.id = ?1
            UNION SELECT child.id FROM session parent
                JOIN session child ON child.parent_agent = parent.agent
                    AND child.parent_native = parent.native AND child.relation = 2
                WHERE parent.id = ?1)
        ORDER BY id";
    SELECT_UNCOPIED = "
        SELECT row, id, copied FROM event WHERE session = ?1 AND ?2 <= seq AND copied < 2";
    UPDATE_EVENT_COPIED = "UPDATE event SET copied = 2 WHERE row = ?1 AND copied < 2";
    CLEAR_EVENTS_COPIED = "UPDATE event SET copied = 1 WHERE session = ?1 AND copied = 2";
    UPDATE_SESSION_FORK = "
        UPDATE session SET parent_agent = ?2, parent_native = ?3, relation = 2
        WHERE id = ?1 AND parent_agent IS NULL";
    UPDATE_SESSION_COPIED = "
        UPDATE session SET
            n_copied  = (SELECT count(*) FROM event WHERE session = ?1 AND copied = 2),
            n_prompts = (SELECT count(*) FROM event WHERE session = ?1 AND kind = 1 AND copied < 2)
        WHERE id = ?1";
    UPDATE_SESSION_SETTLED = "UPDATE session SET settled = ?2 WHERE id = ?1";
    DELETE_SHARED_USAGE = "
        DELETE FROM usage
        WHERE session = ?1 AND key IN (SELECT key FROM usage WHERE session = ?2)";

    INSERT_REINDEX = "INSERT INTO reindex (session) VALUES (?1)";
    SELECT_REINDEX = "
        SELECT id, session FROM reindex WHERE ?1 < id ORDER BY id LIMIT ?2";

    INSERT_FORGOTTEN = "
        INSERT INTO forgotten (agent, native, at_ms) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    SELECT_FORGOTTEN = "SELECT 1 FROM forgotten WHERE agent = ?1 AND native = ?2";
    DELETE_FORGOTTEN = "DELETE FROM forgotten WHERE agent = ?1 AND native = ?2";
    INSERT_EXCLUSION = "INSERT INTO exclusion (path) VALUES (?1) ON CONFLICT DO NOTHING";
    DELETE_EXCLUSION = "DELETE FROM exclusion WHERE path = ?1";
    DELETE_SESSION_EVENTS = "DELETE FROM event WHERE session = ?1";
    DELETE_SESSION_USAGE = "DELETE FROM usage WHERE session = ?1";
    SELECT_SESSION_BODIES = "
        SELECT DISTINCT body FROM event WHERE session = ?1 AND 0 < body";
    DELETE_BODY = "DELETE FROM body WHERE id = ?1";

    SELECT_SESSION = "
        SELECT * FROM session WHERE origin = ?1 AND agent = ?2 AND native = ?3";
    SELECT_SESSION_BY_ROW = "SELECT * FROM session WHERE id = ?1";
    /// Newest first, after a key.
    SELECT_SESSIONS_BY_TIME = "
        SELECT * FROM session
        WHERE (ended_ms, id) < (?1, ?2) ORDER BY ended_ms DESC, id DESC LIMIT ?3";
    SELECT_SESSIONS_BY_PREFIX = "
        SELECT * FROM session WHERE ?1 <= native AND native < ?2 ORDER BY native LIMIT ?3";
    SELECT_SESSIONS_BY_PARENT = "
        SELECT * FROM session
        WHERE parent_agent = ?1 AND parent_native = ?2 ORDER BY started_ms, id";

    INSERT_BODY = "INSERT INTO body (data) VALUES (x'')";
    UPDATE_BODY = "UPDATE body SET data = ?2 WHERE id = ?1";
    SELECT_BODY = "SELECT data FROM body WHERE id = ?1";
    /// The last page of a session, and how much text is on it.
    SELECT_LAST_BODY = "
        SELECT body, body_start + body_bytes FROM event
        WHERE session = ?1 AND 0 < body ORDER BY seq DESC LIMIT 1";

    SELECT_EVENT_BY_ID = "SELECT seq FROM event WHERE session = ?1 AND id = ?2";
    INSERT_EVENT = "
        INSERT INTO event (session, seq, id, kind, at_ms, author, model, name, call, path, detail,
            body, body_start, body_bytes, feed, generation, first_byte, n_bytes, copied)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19)
        ON CONFLICT (session, id) DO NOTHING";
    SELECT_EVENTS_UP = "
        SELECT * FROM event WHERE session = ?1 AND ?2 <= seq AND seq < ?3 ORDER BY seq LIMIT ?4";
    SELECT_EVENTS_DOWN = "
        SELECT * FROM event
        WHERE session = ?1 AND ?2 <= seq AND seq < ?3 ORDER BY seq DESC LIMIT ?4";
    SELECT_EVENT_FIRST_OF_KIND = "
        SELECT * FROM event
        WHERE session = ?1 AND kind = ?2 AND seq < ?3 ORDER BY seq LIMIT 1";
    SELECT_EVENT_LAST_OF_KIND = "
        SELECT * FROM event
        WHERE session = ?1 AND kind = ?2 AND seq < ?3 ORDER BY seq DESC LIMIT 1";
    /// The plus signs keep the planner from walking the session by number.
    SELECT_SEQS_OF_CALL = "
        SELECT seq, kind FROM event
        WHERE session = ?1 AND call = ?2 AND +seq < ?3 AND +kind IN (4, 5) ORDER BY +seq";
    SELECT_EVENTS_OF_KIND = "
        SELECT * FROM event
        WHERE session = ?1 AND kind = ?2 AND ?3 <= seq ORDER BY seq LIMIT ?4";
    SELECT_EVENTS_AFTER_ROW = "SELECT * FROM event WHERE ?1 < row ORDER BY row LIMIT ?2";
    /// For the index: those that are copies are found where they were copied from.
    SELECT_WORDS_AFTER_ROW = "
        SELECT row, session, kind, at_ms, name, path, body, body_start, body_bytes, copied, feed,
               generation
        FROM event WHERE ?1 < row ORDER BY row LIMIT ?2";
    SELECT_WORDS_OF_SESSION = "
        SELECT row, session, kind, at_ms, name, path, body, body_start, body_bytes, copied, feed,
               generation
        FROM event WHERE session = ?1 AND ?2 <= seq ORDER BY seq LIMIT ?3";
    SELECT_EVENT_BY_ROW = "SELECT * FROM event WHERE row = ?1";
    COUNT_EVENTS_OF_KIND = "
        SELECT count(*) FROM event WHERE session = ?1 AND kind = ?2 AND seq < ?3";
    /// How many results have a call to go with: the i-th result of a call id goes with its i-th call.
    COUNT_PAIRS = "
        SELECT coalesce(sum(min(n_calls, n_results)), 0) FROM (
            SELECT sum(kind = 4) AS n_calls, sum(kind = 5) AS n_results
            FROM event WHERE session = ?1 AND call > '' AND +seq < ?2 GROUP BY call)";
    SELECT_PATHS = "
        SELECT path, max(seq) FROM event
        WHERE session = ?1 AND kind = 6 AND path IS NOT NULL
        GROUP BY path ORDER BY 2 DESC LIMIT ?2";

    UPSERT_USAGE = "
        INSERT INTO usage (session, key, model, at_ms, input, cache_read, cache_write, output)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (session, key) DO UPDATE SET
            model = coalesce(excluded.model, model), at_ms = coalesce(at_ms, excluded.at_ms),
            input = excluded.input, cache_read = excluded.cache_read,
            cache_write = excluded.cache_write, output = excluded.output
        WHERE output <= excluded.output";
    SELECT_USAGE = "
        SELECT model, count(*), sum(input), sum(cache_read), sum(cache_write), sum(output)
        FROM usage WHERE session = ?1 GROUP BY model ORDER BY 2 DESC";
}

/// Statements that read a whole table on purpose: each says why that is small or asked for.
pub(crate) mod whole {
    statements! {
        /// The highest row there ever was: rows are not given again, also when the last are
        /// removed. The table has one row for each table that numbers its rows.
        SELECT_LAST_ROW = "SELECT seq FROM sqlite_sequence WHERE name = 'event'";
        /// For `doctor`, which looks at everything.
        SELECT_FEEDS = "
            SELECT id, connector, name, path, generation, cursor, n_bytes, modified_ms, changed,
                   gone, problem, n_rest, reading, hidden
            FROM feed ORDER BY connector, name";
        /// For `doctor` and the first run's summary.
        COUNT_BY_AGENT = "
            SELECT agent, count(*), sum(n_events), sum(n_prompts)
            FROM session WHERE origin = '' GROUP BY agent ORDER BY 2 DESC";
        /// What the user keeps out: a few lines.
        SELECT_EXCLUSIONS = "SELECT path FROM exclusion ORDER BY path";
        SELECT_ANY_FORGOTTEN = "SELECT 1 FROM forgotten LIMIT 1";
        UNHIDE_FEEDS = "UPDATE feed SET hidden = 0 WHERE hidden = ?1";
        /// Asked for by the user, who then waits for the sessions to be removed one by one.
        SELECT_SESSIONS_TO_FORGET = "
            SELECT * FROM session
            WHERE origin = '' AND ended_ms < ?2 AND (?1 IS NULL OR cwd = ?1
                OR substr(cwd, 1, length(?1) + 1) = ?1 || '/')
            ORDER BY ended_ms";
        /// How many times something has been put down to be indexed again.
        SELECT_LAST_REINDEX = "SELECT seq FROM sqlite_sequence WHERE name = 'reindex'";
        /// For `doctor`.
        SUM_ARCHIVE = "SELECT coalesce(sum(n_bytes), 0), coalesce(sum(length(body)), 0) FROM archive";
        /// Sessions whose title has given words: a person's own few thousand titles.
        SELECT_SESSIONS_BY_TITLE = "
            SELECT * FROM session
            WHERE origin = '' AND (title LIKE ?1 ESCAPE '\\' OR first_prompt LIKE ?1 ESCAPE '\\')
            ORDER BY ended_ms DESC LIMIT ?2";
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::Store;

    /// Also prepares each of them against the migrated schema.
    #[test]
    fn no_statement_reads_a_whole_table_by_accident() {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        let db = store.connection().expect("connects");
        let mut plans = String::new();
        for (name, sql) in super::ALL {
            let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect(name);
            let _ = writeln!(plans, "{name}");
            let mut rows = explain.raw_query();
            while let Some(row) = rows.next().expect("reads") {
                let _ = writeln!(plans, "  {}", row.get::<_, String>(3).expect("reads"));
            }
        }
        for (name, sql) in super::whole::ALL {
            db.prepare(sql).expect(name);
        }
        let scans: Vec<&str> = plans
            .lines()
            .filter(|it| it.contains("SCAN") && !it.contains("CONSTANT ROW"))
            .filter(|it| !it.contains("(subquery"))
            .collect();
        assert!(scans.is_empty(), "{scans:?} in:\n{plans}");
        insta::assert_snapshot!(plans);
    }
}
