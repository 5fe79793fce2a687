-- What the unified protocol knows of a memory beyond the memory itself. A memory without a row here was
-- stored through another face, and is a record too: its level follows from its type.

CREATE TABLE memory_records (
    shard     bigint NOT NULL,
    memory_id uuid NOT NULL,
    tenant_id text NOT NULL,
    level     text NOT NULL CHECK (level IN ('raw', 'fact', 'summary', 'meta')),
    topic     text NOT NULL,
    keywords  text[] NOT NULL, -- as they were written
    -- when facts are to be extracted from it; null: nothing to do. A worker that takes it moves this on,
    -- so that another takes it over if the worker dies.
    due_at    timestamptz,
    attempts  smallint NOT NULL DEFAULT 0,
    error     text, -- why the last attempt failed
    PRIMARY KEY (shard, memory_id),
    FOREIGN KEY (shard, memory_id) REFERENCES memories (shard, id) ON DELETE CASCADE
);
CREATE INDEX memory_records_due ON memory_records (due_at) WHERE due_at IS NOT NULL;

-- The keyword registry: which records a keyword (in folded form) stands for.
CREATE TABLE memory_keywords (
    shard     bigint NOT NULL,
    keyword   text NOT NULL,
    memory_id uuid NOT NULL,
    tenant_id text NOT NULL,
    PRIMARY KEY (shard, keyword, memory_id),
    FOREIGN KEY (shard, memory_id) REFERENCES memories (shard, id) ON DELETE CASCADE
);
CREATE INDEX memory_keywords_of ON memory_keywords (shard, memory_id);

CREATE TABLE memory_links (
    shard      bigint NOT NULL,
    from_id    uuid NOT NULL,
    to_id      uuid NOT NULL,
    relation   text NOT NULL,
    tenant_id  text NOT NULL,
    id         uuid NOT NULL,
    weight     double precision NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (shard, from_id, to_id, relation),
    FOREIGN KEY (shard, from_id) REFERENCES memories (shard, id) ON DELETE CASCADE,
    FOREIGN KEY (shard, to_id) REFERENCES memories (shard, id) ON DELETE CASCADE
);
CREATE INDEX memory_links_to ON memory_links (shard, to_id);

-- A caller's own id of a record, by which it may ask for it too.
CREATE INDEX memories_own_id ON memories (shard, (metadata ->> 'memory_id')) WHERE metadata ? 'memory_id';

-- What was deleted is not to come back by extraction.
CREATE INDEX memories_buried ON memories (shard, same_key) WHERE deleted_at IS NOT NULL;

ALTER TABLE memory_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_records FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memory_records USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE memory_keywords ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_keywords FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memory_keywords USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE memory_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_links FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memory_links USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
