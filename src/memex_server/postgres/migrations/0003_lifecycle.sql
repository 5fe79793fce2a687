-- Every source of a memory that others were merged into; `source` is the first.
ALTER TABLE memories ADD COLUMN sources text[] NOT NULL DEFAULT '{}';
-- Taken back out of a summary by hand: not condensed again.
ALTER TABLE memories ADD COLUMN kept_apart boolean NOT NULL DEFAULT false;

CREATE INDEX memories_condensed ON memories (shard, condensed_into) WHERE condensed_into IS NOT NULL;
CREATE INDEX memories_superseded ON memories (shard, superseded_by) WHERE superseded_by IS NOT NULL;
-- What consolidation counts and takes, oldest first.
CREATE INDEX memories_episodic ON memories (shard, user_id, agent_id, occurred_at, id)
    WHERE memory_type = 'episodic' AND deleted_at IS NULL AND condensed_into IS NULL AND superseded_by IS NULL
          AND NOT pinned AND NOT kept_apart AND expires_at IS NULL;

-- Claims that must not come back, by the memory that made them. A row outlives its memory's tombstone,
-- and goes when it is undone or the memory is purged by hand.
CREATE TABLE retractions (
    shard     bigint NOT NULL,
    memory_id uuid NOT NULL,
    tenant_id text NOT NULL,
    user_id   text NOT NULL,
    agent_id  text NOT NULL,
    content   text NOT NULL,
    reason    text,
    actor     text,
    at        timestamptz NOT NULL,
    -- what was current again because of it, and ends again if it is undone
    over      uuid[] NOT NULL,
    PRIMARY KEY (shard, memory_id)
);
CREATE INDEX retractions_id ON retractions (memory_id);

-- Work that outlives a process. A job is there once by its key; a running one is leased until lease_until.
CREATE TABLE jobs (
    shard       bigint NOT NULL,
    id          uuid NOT NULL,
    tenant_id   text NOT NULL,
    kind        text NOT NULL,
    key         text NOT NULL,
    payload     jsonb NOT NULL,
    state       text NOT NULL CHECK (state IN ('pending', 'running', 'dead')),
    attempts    integer NOT NULL DEFAULT 0,
    run_at      timestamptz NOT NULL,
    lease_until timestamptz,
    last_error  text,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (shard, id)
);
CREATE UNIQUE INDEX jobs_once ON jobs (shard, kind, key);
CREATE INDEX jobs_due ON jobs (tenant_id, run_at) WHERE state <> 'dead';

ALTER TABLE retractions ENABLE ROW LEVEL SECURITY;
ALTER TABLE retractions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON retractions USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON jobs USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*');
