CREATE TABLE record (
    id INTEGER PRIMARY KEY,                 -- the order of making
    memory_id TEXT NOT NULL UNIQUE,
    level TEXT NOT NULL,
    hash BLOB NOT NULL,                     -- core.text.content_hash of the text
    content TEXT,                           -- NULL: the text stands in the conversation store, see src_*
    topic TEXT NOT NULL,
    keywords TEXT NOT NULL,                 -- JSON list, as are the tags
    tags TEXT NOT NULL,
    source_type TEXT NOT NULL,
    payload TEXT NOT NULL,                  -- JSON object
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    occurred_at REAL NOT NULL,              -- seconds since 1970, as is created_at
    created_at REAL NOT NULL,
    occurrences INTEGER NOT NULL DEFAULT 1,
    superseded INTEGER NOT NULL DEFAULT 0,  -- 1: kept for `get`, not found any more
    waiting INTEGER NOT NULL DEFAULT 0,     -- 1: facts are yet to be extracted from it
    extract_error TEXT NOT NULL DEFAULT '',
    src_store_id INTEGER,
    src_digest BLOB                         -- SHA-256 of the text that src_store_id must hold
);
CREATE INDEX record_waiting ON record (id) WHERE waiting = 1;
CREATE INDEX record_unpointed ON record (id) WHERE level = 'raw' AND content IS NOT NULL AND session_id <> '' AND role <> '';
-- The same text on one level is one record, unless it was superseded and is told again (so not unique).
CREATE INDEX record_same ON record (level, hash, superseded);

-- The lexical index: terms of `core.text` by their hash, and how much of a term a record holds (BM25 without idf).
CREATE TABLE posting (
    term INTEGER NOT NULL,
    record INTEGER NOT NULL,
    impact REAL NOT NULL,
    PRIMARY KEY (term, record)
) WITHOUT ROWID;

CREATE TABLE link (
    link_id TEXT NOT NULL UNIQUE,
    from_record INTEGER NOT NULL REFERENCES record (id),
    to_record INTEGER NOT NULL REFERENCES record (id),
    relation TEXT NOT NULL,
    weight REAL NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (from_record, to_record, relation)
) WITHOUT ROWID;
