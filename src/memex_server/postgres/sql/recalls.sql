-- name: add
-- Adds counts; a memory that is gone meanwhile is left out. Rows come sorted, so that no two writers deadlock.
INSERT INTO recalls AS r (shard, memory_id, tenant_id, times, last_at)
SELECT m.shard, m.id, m.tenant_id, i.times, i.last_at
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::timestamptz[]) AS i (shard, id, times, last_at)
CROSS JOIN LATERAL (
    SELECT shard, id, tenant_id FROM memories WHERE shard = i.shard AND id = i.id FOR KEY SHARE) m
ON CONFLICT (shard, memory_id) DO UPDATE SET
    times = r.times + excluded.times, last_at = greatest(r.last_at, excluded.last_at)

-- name: get
SELECT times, last_at FROM recalls WHERE shard = $1 AND memory_id = $2
