-- What else tells one state of a feed's file from another, which version of its connector read it,
-- and whether it is left unread: 0 no, 1 its place is excluded, 2 its session was forgotten.
ALTER TABLE feed ADD COLUMN changed INTEGER;
ALTER TABLE feed ADD COLUMN reading INTEGER NOT NULL DEFAULT 1;
ALTER TABLE feed ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

-- Where the first record of a kind begins.
ALTER TABLE tally ADD COLUMN example INTEGER;

-- Which sessions a feed tells of.
CREATE TABLE feed_session (
    feed    INTEGER NOT NULL REFERENCES feed (id),
    session INTEGER NOT NULL REFERENCES session (id),
    PRIMARY KEY (feed, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_by_session ON feed_session (session);
INSERT INTO feed_session SELECT DISTINCT feed, session FROM event WHERE feed IS NOT NULL;

-- Of a fork: how many of its events are copies that stand in the session it comes from, and up to
-- which number that has been looked at.
ALTER TABLE session ADD COLUMN n_copied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;

-- 1: the transcript says that it was copied. 2: the session it was copied from has it.
ALTER TABLE event ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;

-- The names of a session's first events: who shares one is a copy, or has been copied.
CREATE TABLE beginning (
    name    BLOB NOT NULL,
    session INTEGER NOT NULL REFERENCES session (id),
    PRIMARY KEY (name, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX beginning_by_session ON beginning (session);

-- Sessions whose events must be removed from the index and added again, as far as they are there.
CREATE TABLE reindex (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL
) STRICT;

-- What the user wants kept out: sessions, and working directories.
CREATE TABLE forgotten (
    agent  TEXT NOT NULL,
    native TEXT NOT NULL,
    at_ms  INTEGER NOT NULL,
    PRIMARY KEY (agent, native)
) STRICT, WITHOUT ROWID;
CREATE TABLE exclusion (
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
