-- A workspace database, version 1. Every key begins with the workspace, and so does every
-- condition: one file holds all workspaces of a folder.

CREATE TABLE workspaces (
    workspace  TEXT NOT NULL PRIMARY KEY,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    workspace  TEXT NOT NULL,
    source     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    n_events   INTEGER NOT NULL,
    n_bytes    INTEGER NOT NULL,
    head_hash  BLOB NOT NULL,
    last_event BLOB,
    facts      TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (workspace, source, session_id)
) STRICT, WITHOUT ROWID;

-- A page is inserted and never changed. The body comes last, so that a row's numbers are read
-- without it.
CREATE TABLE pages (
    workspace  TEXT NOT NULL,
    source     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    first_seq  INTEGER NOT NULL,
    n_events   INTEGER NOT NULL,
    first_byte INTEGER NOT NULL,
    n_bytes    INTEGER NOT NULL,
    codec      INTEGER NOT NULL,
    sha256     BLOB NOT NULL,
    chain      BLOB NOT NULL,
    pushed_ms  INTEGER NOT NULL,
    pushed_by  TEXT NOT NULL,
    body       BLOB NOT NULL,
    PRIMARY KEY (workspace, source, session_id, generation, first_seq)
) STRICT;
