-- What identifies this store, and its keys.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row a feed: how far it has been read, and what its file looked like then.
CREATE TABLE feed (
    id          INTEGER PRIMARY KEY,
    connector   TEXT NOT NULL,
    name        TEXT NOT NULL,
    path        TEXT,
    generation  INTEGER NOT NULL DEFAULT 0,
    cursor      TEXT,
    n_bytes     INTEGER,
    modified_ms INTEGER,
    -- The bytes beyond the last whole record, compressed, as they last stood.
    rest        BLOB,
    n_rest      INTEGER NOT NULL DEFAULT 0,
    -- Whether the source still lists it.
    gone        INTEGER NOT NULL DEFAULT 0,
    problem     TEXT,
    UNIQUE (connector, name)
) STRICT;

-- Every byte that was read. A rewritten feed begins a new generation; the old one stays.
CREATE TABLE archive (
    feed       INTEGER NOT NULL REFERENCES feed (id),
    generation INTEGER NOT NULL,
    first_byte INTEGER NOT NULL,
    n_bytes    INTEGER NOT NULL,
    body       BLOB NOT NULL,
    PRIMARY KEY (feed, generation, first_byte)
) STRICT;

-- What became of each record. class: 1 understood, 2 ignored, 3 unknown, 4 damaged.
CREATE TABLE tally (
    feed       INTEGER NOT NULL REFERENCES feed (id),
    generation INTEGER NOT NULL,
    class      INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (feed, generation, class, kind)
) STRICT, WITHOUT ROWID;

-- Where the damaged records are.
CREATE TABLE skipped (
    feed       INTEGER NOT NULL REFERENCES feed (id),
    generation INTEGER NOT NULL,
    locator    TEXT NOT NULL,
    reason     TEXT NOT NULL
) STRICT;
CREATE INDEX skipped_by_feed ON skipped (feed, generation);

CREATE TABLE session (
    id            INTEGER PRIMARY KEY,
    -- Empty for what this machine's agents wrote, else the workspace it was fetched from.
    origin        TEXT NOT NULL,
    agent         TEXT NOT NULL,
    native        TEXT NOT NULL,
    -- Derived from the two: what events name their session by.
    uuid          BLOB NOT NULL,
    title         TEXT,
    title_rank    INTEGER NOT NULL DEFAULT 0,
    cwd           TEXT,
    git_branch    TEXT,
    git_commit    TEXT,
    git_remote    TEXT,
    agent_version TEXT,
    originator    TEXT,
    nickname      TEXT,
    parent_agent  TEXT,
    parent_native TEXT,
    relation      INTEGER,
    started_ms    INTEGER,
    -- 0 where no event says when it happened, so that such sessions are listed last.
    ended_ms      INTEGER NOT NULL DEFAULT 0,
    n_events      INTEGER NOT NULL DEFAULT 0,
    n_prompts     INTEGER NOT NULL DEFAULT 0,
    first_prompt  TEXT,
    -- Of a fetched copy: the revision of the workspace that it stands for.
    revision      TEXT,
    UNIQUE (origin, agent, native),
    UNIQUE (origin, uuid)
) STRICT;
CREATE INDEX session_by_time ON session (ended_ms DESC, id DESC);
CREATE INDEX session_by_native ON session (native);
CREATE INDEX session_by_parent ON session (parent_agent, parent_native);

-- The texts of events, many together, compressed.
CREATE TABLE body (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

-- `row` is commit order: whoever follows it misses nothing. `seq` counts within the session.
CREATE TABLE event (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    session    INTEGER NOT NULL REFERENCES session (id),
    seq        INTEGER NOT NULL,
    id         BLOB NOT NULL,
    kind       INTEGER NOT NULL,
    at_ms      INTEGER,
    author     INTEGER NOT NULL,
    -- The model's, the tool's, the marker's or the unknown kind's name.
    model      TEXT,
    name       TEXT,
    call       TEXT,
    path       TEXT,
    -- The outcome of a tool, the change of a file.
    detail     INTEGER,
    body       INTEGER,
    body_start INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    feed       INTEGER,
    generation INTEGER NOT NULL,
    first_byte INTEGER NOT NULL,
    n_bytes    INTEGER NOT NULL,
    UNIQUE (session, id),
    UNIQUE (session, seq)
) STRICT;
CREATE INDEX event_by_kind ON event (session, kind, seq);
CREATE INDEX event_by_call ON event (session, call) WHERE call IS NOT NULL;

CREATE TABLE usage (
    session     INTEGER NOT NULL REFERENCES session (id),
    key         TEXT NOT NULL,
    model       TEXT,
    at_ms       INTEGER,
    input       INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
