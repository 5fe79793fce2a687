-- From one embedding model to the next. Statements with {placeholders} are DDL: the values are names
-- chosen by memex, never input. Sessions here set memex.tenant to '*': all tenants move together.

-- name: models
SELECT slot, model_id, dim FROM memex.embedding_model

-- name: announce
INSERT INTO memex.embedding_model (slot, model_id, dim) VALUES ('next', $1, $2)
ON CONFLICT (slot) DO UPDATE SET model_id = $1, dim = $2, created_at = now()

-- name: create_progress
-- Which memories have their new vectors, and for which text (same_key changes with it).
CREATE TABLE IF NOT EXISTS {schema}.progress (
    shard     bigint NOT NULL,
    memory_id uuid NOT NULL,
    same_key  bytea NOT NULL,
    PRIMARY KEY (shard, memory_id)
)

-- name: drop_progress
DROP TABLE {schema}.progress

-- name: remaining
SELECT count(*) FROM memex.memories m LEFT JOIN progress p ON p.shard = m.shard AND p.memory_id = m.id
WHERE m.deleted_at IS NULL AND m.condensed_into IS NULL AND p.same_key IS DISTINCT FROM m.same_key

-- name: pending
SELECT m.shard, m.id, m.tenant_id, m.content, m.same_key
FROM memex.memories m LEFT JOIN progress p ON p.shard = m.shard AND p.memory_id = m.id
WHERE m.deleted_at IS NULL AND m.condensed_into IS NULL AND p.same_key IS DISTINCT FROM m.same_key
LIMIT $1

-- name: clear
DELETE FROM memory_vectors v USING unnest($1::bigint[], $2::uuid[]) c (shard, id)
WHERE v.shard = c.shard AND v.memory_id = c.id

-- name: put
INSERT INTO memory_vectors (shard, memory_id, passage, tenant_id, start_char, end_char, embedding)
SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::smallint[], $4::text[], $5::integer[], $6::integer[], $7::halfvec[])

-- name: note
INSERT INTO progress (shard, memory_id, same_key) SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[])
ON CONFLICT (shard, memory_id) DO UPDATE SET same_key = excluded.same_key

-- name: stop_writers
LOCK TABLE memex.memories IN SHARE ROW EXCLUSIVE MODE

-- name: drop_gone
DELETE FROM memory_vectors v WHERE NOT EXISTS (
    SELECT FROM memex.memories m
    WHERE m.shard = v.shard AND m.id = v.memory_id AND m.deleted_at IS NULL AND m.condensed_into IS NULL)

-- name: forget_next
DELETE FROM memex.embedding_model WHERE slot = 'next'

-- name: switch
UPDATE memex.embedding_model SET model_id = $1, dim = $2, created_at = now() WHERE slot = 'current'
