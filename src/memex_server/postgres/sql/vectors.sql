-- Each embedding model has a schema of its own for its vectors. A session names the schema of its model
-- in its search path, so vectors of two models can never meet. Statements with {placeholders} are DDL:
-- the values are integers or names chosen by memex, never input.

-- name: create_schema
CREATE SCHEMA IF NOT EXISTS {schema}

-- name: create_table
-- A live memory has one row for each of its passages; the vector index holds those that are marked so.
CREATE TABLE IF NOT EXISTS {schema}.memory_vectors (
    shard      bigint NOT NULL,
    memory_id  uuid NOT NULL,
    passage    smallint NOT NULL,
    tenant_id  text NOT NULL,
    start_char integer NOT NULL,
    end_char   integer NOT NULL,
    embedding  halfvec({dim}) NOT NULL,
    indexed    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (shard, memory_id, passage)
)

-- name: store_plain
-- Never compressed or moved out of the row: scans read every vector of a scope.
ALTER TABLE {schema}.memory_vectors ALTER COLUMN embedding SET STORAGE PLAIN

-- name: create_places
-- Which vectors of a scope are in the vector index, and which are not.
CREATE INDEX IF NOT EXISTS memory_vectors_places ON {schema}.memory_vectors (indexed, shard)

-- name: enable_rls
ALTER TABLE {schema}.memory_vectors ENABLE ROW LEVEL SECURITY

-- name: force_rls
ALTER TABLE {schema}.memory_vectors FORCE ROW LEVEL SECURITY

-- name: drop_policy
DROP POLICY IF EXISTS tenant_only ON {schema}.memory_vectors

-- name: create_policy
CREATE POLICY tenant_only ON {schema}.memory_vectors
    USING (
    tenant_id = (SELECT current_setting('memex.tenant')) OR (SELECT current_setting('memex.tenant')) = '*')

-- name: grant_schema
GRANT USAGE ON SCHEMA {schema} TO memex_service

-- name: grant_tables
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO memex_service

-- name: drop_schema
DROP SCHEMA IF EXISTS {schema} CASCADE

-- name: create_hnsw
CREATE INDEX {concurrently} memory_vectors_hnsw ON memory_vectors
    USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 128)
    WHERE indexed

-- name: create_ivfflat
CREATE INDEX {concurrently} memory_vectors_ivfflat ON memory_vectors
    USING ivfflat (embedding halfvec_ip_ops) WITH (lists = {lists})
    WHERE indexed

-- name: drop_hnsw
DROP INDEX {concurrently} IF EXISTS {schema}.memory_vectors_hnsw

-- name: drop_ivfflat
DROP INDEX {concurrently} IF EXISTS {schema}.memory_vectors_ivfflat

-- name: index_valid
-- Whether the index $2 of schema $1 is whole; no row if there is none.
SELECT i.indisvalid FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2

-- name: any_rows
SELECT EXISTS (SELECT FROM memory_vectors)

-- name: count_indexed
-- Rows that are to be in the index, counted up to $1.
SELECT count(*) FROM (SELECT FROM memory_vectors WHERE indexed LIMIT $1) counted

-- name: left_out
-- Scopes of more than $1 memories of which more than $2 passages are not in the index.
SELECT v.shard FROM memory_vectors v WHERE NOT v.indexed
GROUP BY v.shard
HAVING count(*) > $2
   AND (SELECT count(*) FROM (SELECT FROM memories m WHERE m.shard = v.shard LIMIT $1::bigint + 1) counted) > $1

-- name: take_in
-- Up to $2 passages of scope $1 go into the index; how many did.
WITH chosen AS MATERIALIZED (
    SELECT ctid FROM memory_vectors WHERE NOT indexed AND shard = $1 LIMIT $2 FOR UPDATE SKIP LOCKED
), marked AS (
    UPDATE memory_vectors v SET indexed = true FROM chosen c WHERE v.ctid = c.ctid RETURNING 1
)
SELECT count(*) FROM marked

-- name: take_out
-- The same the other way round, whatever the scope: up to $1 passages.
WITH chosen AS MATERIALIZED (
    SELECT ctid FROM memory_vectors WHERE indexed LIMIT $1 FOR UPDATE SKIP LOCKED
), marked AS (
    UPDATE memory_vectors v SET indexed = false FROM chosen c WHERE v.ctid = c.ctid RETURNING 1
)
SELECT count(*) FROM marked
