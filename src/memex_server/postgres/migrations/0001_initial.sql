-- Every table carries the tenant, and every key starts with the scope's shard (a hash of tenant
-- and user), so the schema can be distributed by it unchanged.

CREATE TABLE memories (
    shard          bigint NOT NULL,
    id             uuid NOT NULL,
    tenant_id      text NOT NULL,
    user_id        text NOT NULL,
    agent_id       text NOT NULL,
    session_id     text,
    memory_type    text NOT NULL CHECK (memory_type IN ('episodic', 'semantic', 'procedural')),
    content        text NOT NULL,
    -- hash of scope, type, text and (if the caller gave one) event time: equal means "the same memory"
    same_key       bytea NOT NULL,
    -- the event time if the caller gave one; it is part of what makes a memory itself
    given_at       timestamptz,
    importance     double precision NOT NULL CHECK (importance BETWEEN 0 AND 2),
    tags           text[] NOT NULL,
    metadata       jsonb NOT NULL,
    source         text,
    pinned         boolean NOT NULL,
    occurrences    integer NOT NULL DEFAULT 1,
    occurred_at    timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    valid_from     timestamptz,
    valid_to       timestamptz,
    superseded_by  uuid,
    condensed_into uuid,
    deleted_at     timestamptz,
    expires_at     timestamptz,
    -- term postings as they stand in memory_terms: (term, passage, tf), kept to undo and redo them;
    -- passage -1 is the speaker's name before "Name: text"
    terms          bigint[] NOT NULL,
    term_passages  smallint[] NOT NULL,
    term_counts    smallint[] NOT NULL,
    n_terms        integer NOT NULL,
    -- bits of memex.core.traits.Trait
    traits         smallint NOT NULL,
    PRIMARY KEY (shard, id)
);

CREATE UNIQUE INDEX memories_same ON memories (shard, same_key)
    WHERE deleted_at IS NULL AND superseded_by IS NULL AND condensed_into IS NULL;
-- not unique: only a way from a bare id to its row, inside the tenant
CREATE INDEX memories_id ON memories (id);
CREATE INDEX memories_agent ON memories (shard, agent_id, id);
CREATE INDEX memories_recent ON memories (shard, occurred_at);
CREATE INDEX memories_session ON memories (shard, session_id, occurred_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX memories_tombstones ON memories (deleted_at) WHERE deleted_at IS NOT NULL;

-- Postings of live memories only; document frequencies are counted from them, so they are always right.
CREATE TABLE memory_terms (
    shard     bigint NOT NULL,
    term      bigint NOT NULL,
    memory_id uuid NOT NULL,
    passage   smallint NOT NULL,
    tf        smallint NOT NULL,
    tenant_id text NOT NULL,
    PRIMARY KEY (shard, term, memory_id, passage) INCLUDE (tf, tenant_id) -- so that scans need the index alone
);

-- Counts the changes of a scope, so that a process knows whether what it holds of it is still so.
CREATE TABLE scopes (
    shard     bigint PRIMARY KEY,
    tenant_id text NOT NULL,
    version   bigint NOT NULL
);

-- Triggers, so that no way of writing can forget it; in order of shard, so that no two can deadlock.
CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO scopes AS s (shard, tenant_id, version)
    SELECT DISTINCT shard, tenant_id, 1 FROM changed ORDER BY shard
    ON CONFLICT (shard) DO UPDATE SET version = s.version + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER count_inserted AFTER INSERT ON memories
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_changes();
CREATE TRIGGER count_updated AFTER UPDATE ON memories
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_changes();
CREATE TRIGGER count_deleted AFTER DELETE ON memories
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_changes();

CREATE TABLE memory_versions (
    shard       bigint NOT NULL,
    memory_id   uuid NOT NULL,
    version     integer NOT NULL,
    tenant_id   text NOT NULL,
    action      text NOT NULL,
    at          timestamptz NOT NULL,
    actor       text,
    reason      text,
    content     text NOT NULL,
    importance  double precision NOT NULL,
    memory_type text NOT NULL,
    tags        text[] NOT NULL,
    metadata    jsonb NOT NULL,
    PRIMARY KEY (shard, memory_id, version)
);

CREATE TABLE idempotency_keys (
    shard       bigint NOT NULL,
    key         text NOT NULL,
    tenant_id   text NOT NULL,
    fingerprint bytea NOT NULL,
    outcome     jsonb,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (shard, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Counters are worth nothing after a crash, so they are not logged.
CREATE UNLOGGED TABLE rate_limits (
    shard     bigint NOT NULL,
    agent_key text NOT NULL,
    operation text NOT NULL,
    tenant_id text NOT NULL,
    hits      timestamptz[] NOT NULL,
    last_at   timestamptz NOT NULL,
    allowed   boolean NOT NULL,
    PRIMARY KEY (shard, agent_key, operation)
);

-- One row: the model that all vectors of this database come from.
CREATE TABLE embedding_model (
    slot       text PRIMARY KEY CHECK (slot IN ('current', 'next')),
    model_id   text NOT NULL,
    dim        integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A session sees the rows of its own tenant; maintenance of the whole database sets '*'.
-- (SELECT ...) makes it one look-up for a statement instead of one for each row.
ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memories USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE memory_terms ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_terms FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memory_terms USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE memory_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON memory_versions USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON idempotency_keys USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE scopes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON scopes USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE rate_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE rate_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON rate_limits USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
