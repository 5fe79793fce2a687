-- name: describe
SELECT memory_id, level, topic, keywords FROM memory_records WHERE shard = $1 AND memory_id = ANY ($2::uuid[])

-- name: put
-- Describes a memory as a record, or adds to its description; $7 when facts are to be extracted from it.
INSERT INTO memory_records AS r (shard, memory_id, tenant_id, level, topic, keywords, due_at)
VALUES ($1, $2, $3, $4, $5, $6::text[], $7)
ON CONFLICT (shard, memory_id) DO UPDATE SET
    topic = CASE WHEN r.topic = '' THEN excluded.topic ELSE r.topic END,
    -- as many as one record may have
    keywords = (r.keywords || ARRAY(SELECT k FROM unnest(excluded.keywords) WITH ORDINALITY q (k, n)
                                    WHERE k <> ALL (r.keywords) ORDER BY n))[1:64],
    -- what was extracted once is not extracted again because it was said again
    due_at = CASE WHEN r.attempts = 0 THEN coalesce(r.due_at, excluded.due_at) ELSE r.due_at END
RETURNING memory_id, level, topic, keywords

-- name: register
INSERT INTO memory_keywords (shard, keyword, memory_id, tenant_id)
SELECT $1, k, $2, $3 FROM unnest($4::text[]) k ORDER BY k
ON CONFLICT DO NOTHING

-- name: own_id
-- The live memory that its caller gave the id $3.
SELECT m.id FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND m.metadata ? 'memory_id' AND m.metadata ->> 'memory_id' = $3
  AND m.deleted_at IS NULL
ORDER BY m.id LIMIT 1

-- name: links
SELECT id, from_id, to_id, relation, weight FROM memory_links WHERE shard = $1 AND from_id = $2
UNION
SELECT id, from_id, to_id, relation, weight FROM memory_links WHERE shard = $1 AND to_id = $2
ORDER BY id

-- name: lock_ends
-- Both ends of a link, if they are there; locked in one order, so that two links cannot deadlock.
SELECT m.id FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND m.id = ANY ($3::uuid[]) AND m.deleted_at IS NULL
ORDER BY m.id FOR UPDATE

-- name: is_before
-- Whether $3 supersedes $2, directly or through others.
WITH RECURSIVE after AS (
    SELECT m.superseded_by FROM memories m WHERE m.shard = $1 AND m.id = $2
    UNION
    SELECT m.superseded_by FROM after JOIN memories m ON m.shard = $1 AND m.id = after.superseded_by
)
SELECT EXISTS (SELECT FROM after WHERE superseded_by = $3)

-- name: link
INSERT INTO memory_links AS l (shard, from_id, to_id, relation, tenant_id, id, weight, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (shard, from_id, to_id, relation) DO UPDATE SET weight = excluded.weight
RETURNING id

-- name: claim
-- Takes up to $2 records that are due, of user $4 if one is given; until $3 nobody else does.
WITH due AS (
    SELECT r.shard, r.memory_id, m.user_id
    FROM memory_records r JOIN memories m ON m.shard = r.shard AND m.id = r.memory_id
    WHERE r.due_at <= $1 AND ($4::text IS NULL OR m.user_id = $4)
    ORDER BY r.due_at LIMIT $2 FOR UPDATE OF r SKIP LOCKED
)
UPDATE memory_records r SET due_at = $3, attempts = r.attempts + 1
FROM due WHERE r.shard = due.shard AND r.memory_id = due.memory_id
RETURNING r.memory_id, due.user_id, r.attempts

-- name: claim_these
-- Takes live memories by id, those that no record was made of too.
INSERT INTO memory_records AS r (shard, memory_id, tenant_id, level, topic, keywords, due_at, attempts)
SELECT m.shard, m.id, m.tenant_id, CASE m.memory_type WHEN 'episodic' THEN 'raw' ELSE 'fact' END, '', '{}', $4, 1
FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND m.id = ANY ($3::uuid[]) AND m.deleted_at IS NULL
ORDER BY m.id
ON CONFLICT (shard, memory_id) DO UPDATE SET due_at = excluded.due_at, attempts = r.attempts + 1
RETURNING memory_id, attempts

-- name: settle
-- The outcome of an attempt: $3 when to try again (null: never), $4 what went wrong (null: nothing).
UPDATE memory_records SET due_at = $3, error = $4 WHERE shard = $1 AND memory_id = $2

-- name: buried
-- Which of these texts were deleted in this scope, and are not to come back by themselves.
SELECT DISTINCT same_key FROM memories WHERE shard = $1 AND same_key = ANY ($2::bytea[]) AND deleted_at IS NOT NULL
