-- Each embedding model has a schema of its own for its vectors. A session names the schema of its model
-- in its search path, so vectors of two models can never meet. Statements with {placeholders} are DDL:
-- the values are integers or names chosen by memex, never input.

-- name: create_schema
CREATE SCHEMA IF NOT EXISTS {schema}

-- name: create_table
-- A live memory has one row for each of its passages.
CREATE TABLE IF NOT EXISTS {schema}.memory_vectors (
    shard      bigint NOT NULL,
    memory_id  uuid NOT NULL,
    passage    smallint NOT NULL,
    tenant_id  text NOT NULL,
    start_char integer NOT NULL,
    end_char   integer NOT NULL,
    embedding  halfvec({dim}) NOT NULL,
    PRIMARY KEY (shard, memory_id, passage)
)

-- name: store_plain
-- Never compressed or moved out of the row: scans read every vector of a scope.
ALTER TABLE {schema}.memory_vectors ALTER COLUMN embedding SET STORAGE PLAIN

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
    USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 96)

-- name: create_ivfflat
CREATE INDEX {concurrently} memory_vectors_ivfflat ON memory_vectors
    USING ivfflat (embedding halfvec_ip_ops) WITH (lists = {lists})

-- name: drop_hnsw
DROP INDEX {concurrently} IF EXISTS {schema}.memory_vectors_hnsw

-- name: drop_ivfflat
DROP INDEX {concurrently} IF EXISTS {schema}.memory_vectors_ivfflat

-- name: index_valid
-- Whether the index $2 of schema $1 is whole; no row if there is none.
SELECT i.indisvalid FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2

-- name: count_rows
-- Rows of the table, counted up to $1.
SELECT count(*) FROM (SELECT FROM memory_vectors LIMIT $1) counted
