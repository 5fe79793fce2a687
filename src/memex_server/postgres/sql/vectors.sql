-- Statements with {placeholders} are DDL: the values are integers or names chosen by memex, never input.

-- name: create_table
-- Vectors of one embedding model; a live memory has one row for each of its passages.
CREATE TABLE IF NOT EXISTS {table} (
    shard      bigint NOT NULL,
    memory_id  uuid NOT NULL,
    passage    smallint NOT NULL,
    tenant_id  text NOT NULL,
    start_char integer NOT NULL,
    end_char   integer NOT NULL,
    embedding  halfvec({dim}) NOT NULL,
    PRIMARY KEY (shard, memory_id, passage)
);

-- name: store_plain
-- Never compressed or moved out of the row: scans read every vector of a scope.
ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE PLAIN;

-- name: enable_rls
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;

-- name: force_rls
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;

-- name: policy
CREATE POLICY tenant_only ON {table} USING (tenant_id = current_setting('memex.tenant'));

-- name: create_hnsw
CREATE INDEX {concurrently} memory_vectors_hnsw ON memory_vectors
    USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 64);

-- name: create_ivfflat
CREATE INDEX {concurrently} memory_vectors_ivfflat ON memory_vectors
    USING ivfflat (embedding halfvec_ip_ops) WITH (lists = {lists});

-- name: drop_hnsw
DROP INDEX {concurrently} IF EXISTS memory_vectors_hnsw;

-- name: drop_ivfflat
DROP INDEX {concurrently} IF EXISTS memory_vectors_ivfflat;
