-- What the gate, retraction, consolidation and forgetting write. $1 is always the shard.

-- fragment: condensable
m.memory_type = 'episodic' AND m.deleted_at IS NULL AND m.condensed_into IS NULL AND m.superseded_by IS NULL
AND m.valid_to IS NULL AND NOT m.pinned AND NOT m.kept_apart AND m.expires_at IS NULL

-- name: gate
-- Until the end of the transaction no other one of this scope passes.
SELECT pg_advisory_xact_lock($1)

-- name: try_gate
SELECT pg_try_advisory_xact_lock($1)

-- name: version
SELECT version FROM scopes WHERE shard = $1

-- name: merge
-- What an update does not touch when another memory was merged in.
UPDATE memories SET occurrences = occurrences + 1, sources = $3, told_at = $4,
       valid_from = CASE WHEN valid_from IS NOT NULL THEN least(valid_from, $5) END
WHERE shard = $1 AND id = $2

-- name: supersede
-- Those of $2 that have not ended, or not before $4 by another, end at $4, by $3 (which may be purged at this moment).
WITH successor AS (SELECT id FROM memories WHERE shard = $1 AND id = $3 FOR KEY SHARE)
UPDATE memories m SET valid_to = greatest($4, m.valid_from), superseded_by = s.id, updated_at = $5
FROM successor s
WHERE m.shard = $1 AND m.id = ANY ($2::uuid[]) AND m.id <> s.id
  AND m.deleted_at IS NULL AND m.condensed_into IS NULL
  AND (m.valid_to IS NULL OR m.valid_to > $4 OR (m.valid_to = $4 AND m.superseded_by IS NULL))
RETURNING m.id

-- name: begin
-- A successor is true from when its predecessor is not, unless it was told before.
UPDATE memories SET valid_from = $3
WHERE shard = $1 AND id = $2 AND valid_from IS NULL AND coalesce(told_at[1], occurred_at) >= $3

-- name: part
-- Makes the time of memory $2 in which it was told at $4 and $5 a memory of its own, $3, that ends at $6, by $7.
INSERT INTO memories (
    shard, id, tenant_id, user_id, agent_id, session_id, memory_type, content, same_key, given_at, importance, tags,
    metadata, source, sources, pinned, kept_apart, occurrences, occurred_at, told_at, created_at, updated_at,
    valid_from, valid_to, superseded_by, expires_at, terms, term_passages, term_counts, n_terms, traits)
SELECT m.shard, $3, m.tenant_id, m.user_id, m.agent_id, m.session_id, m.memory_type, m.content, m.same_key, m.given_at,
       m.importance, m.tags, m.metadata, m.source, m.sources, m.pinned, m.kept_apart,
       cardinality($5::timestamptz[]), $4, $5, m.created_at, $8,
       m.valid_from, $6, $7, m.expires_at, m.terms, m.term_passages, m.term_counts, m.n_terms, m.traits
FROM memories m WHERE m.shard = $1 AND m.id = $2

-- name: part_vectors
INSERT INTO memory_vectors (shard, memory_id, passage, tenant_id, start_char, end_char, embedding)
SELECT v.shard, $3, v.passage, v.tenant_id, v.start_char, v.end_char, v.embedding
FROM memory_vectors v WHERE v.shard = $1 AND v.memory_id = $2

-- name: part_before
-- What $2 had superseded by $4 was superseded by the part of it that is $3 now.
UPDATE memories SET superseded_by = $3 WHERE shard = $1 AND superseded_by = $2 AND valid_to <= $4

-- name: part_after
-- Memory $2 is true again from $3 on, when it was told at $4.
UPDATE memories SET valid_from = $3, told_at = $4, updated_at = $5,
       occurrences = greatest(occurrences - $6, cardinality($4::timestamptz[]))
WHERE shard = $1 AND id = $2

-- name: overtaken_by
SELECT id FROM memories WHERE shard = $1 AND superseded_by = $2 ORDER BY id

-- name: overtaken
SELECT * FROM memories WHERE superseded_by = $1 AND shard = (SELECT g.shard FROM memories g WHERE g.id = $1) ORDER BY id

-- name: same
SELECT * FROM memories WHERE shard = $1 AND same_key = $2 ORDER BY id

-- name: absorb
-- What $2 says is said by $3, at all times.
UPDATE memories m SET valid_to = coalesce(m.valid_from, m.told_at[1], m.occurred_at), superseded_by = $3,
       updated_at = $4
WHERE m.shard = $1 AND m.id = $2

-- name: absorbed
-- Those of $2 that were absorbed by one of $3.
SELECT m.id FROM memories m WHERE m.shard = $1 AND m.id = ANY ($2::uuid[]) AND m.superseded_by = ANY ($3::uuid[])
  AND m.valid_to <= coalesce(m.valid_from, m.told_at[1], m.occurred_at)

-- name: rests
-- What $2 says too, being a rest of it.
SELECT m.id FROM memory_versions v JOIN memories m ON m.shard = v.shard AND m.id = v.memory_id
WHERE v.shard = $1 AND v.version = 1 AND v.reason = $3 AND m.id <> $2
  AND m.deleted_at IS NULL AND m.condensed_into IS NULL AND m.valid_to IS NULL

-- name: note_rest
UPDATE memory_versions SET reason = $3 WHERE shard = $1 AND memory_id = $2 AND version = 1

-- name: reinstate
UPDATE memories AS m SET valid_to = NULL, superseded_by = NULL, updated_at = $3 WHERE m.shard = $1 AND m.id = $2

-- name: hand_over
-- What a retracted memory ended was ended by its own successor at the latest.
WITH successor AS (SELECT id FROM memories WHERE shard = $1 AND id = $3 FOR KEY SHARE)
UPDATE memories m SET superseded_by = s.id, valid_to = $4, updated_at = $5
FROM successor s WHERE m.shard = $1 AND m.id = ANY ($2::uuid[])

-- name: retract
INSERT INTO retractions AS r (shard, memory_id, tenant_id, user_id, agent_id, content, reason, actor, at, over)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (shard, memory_id) DO UPDATE SET reason = $7, actor = $8, at = $9, over = r.over || $10

-- name: retractions
SELECT memory_id, content, reason, at FROM retractions WHERE shard = $1 AND user_id = $2 ORDER BY at DESC LIMIT $3

-- name: over
-- What a memory had superseded when it was retracted; no row if it is not.
SELECT over FROM retractions WHERE memory_id = $1

-- name: unretract
DELETE FROM retractions
WHERE memory_id = $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::text IS NULL OR agent_id = $3)
RETURNING memory_id

-- name: crowded
-- Up to $2 scopes of this tenant with more than $1 memories to condense.
SELECT m.user_id, m.agent_id, count(*) AS n FROM memories m
WHERE {condensable}
GROUP BY m.shard, m.user_id, m.agent_id HAVING count(*) > $1
ORDER BY m.shard LIMIT $2

-- name: condensable_count
SELECT count(*) FROM memories m WHERE m.shard = $1 AND m.user_id = $2 AND m.agent_id = $3 AND {condensable}

-- name: oldest
SELECT m.id FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND m.agent_id = $3 AND {condensable}
ORDER BY m.occurred_at, m.id LIMIT $4

-- name: agents
-- Agents of a user with memories to condense.
SELECT DISTINCT m.agent_id FROM memories m WHERE m.shard = $1 AND m.user_id = $2 AND {condensable} ORDER BY 1

-- name: lock_batch
-- Those of $2 that can still be condensed, as they are now.
SELECT m.id, m.updated_at FROM memories m
WHERE m.shard = $1 AND m.id = ANY ($2::uuid[]) AND {condensable}
ORDER BY m.id FOR UPDATE

-- name: archive
UPDATE memories SET condensed_into = $3, updated_at = $4 WHERE shard = $1 AND id = ANY ($2::uuid[])

-- name: sources
-- Sources of a summary, oldest first; tombstones only if $3.
SELECT id FROM memories
WHERE shard = $1 AND condensed_into = $2 AND (deleted_at IS NULL OR $3::boolean)
ORDER BY occurred_at, id

-- name: nearest_written
-- For each vector of $5 (by its place, from 1) up to $6 memories nearest to it, of those written since summary $4 was.
WITH written AS MATERIALIZED (
    SELECT m.id, v.embedding FROM memories m JOIN memory_vectors v ON v.shard = m.shard AND v.memory_id = m.id
    WHERE m.shard = $1 AND m.user_id = $2 AND m.agent_id = $3 AND m.id <> $4
      AND m.updated_at >= (SELECT s.created_at FROM memories s WHERE s.shard = $1 AND s.id = $4)
      AND m.deleted_at IS NULL AND m.condensed_into IS NULL
)
SELECT s.place, n.id, n.similarity
FROM unnest($5::halfvec[]) WITH ORDINALITY AS s (embedding, place)
CROSS JOIN LATERAL (
    SELECT w.id, max(-(w.embedding <#> s.embedding)) AS similarity
    FROM written w GROUP BY w.id ORDER BY 2 DESC, 1 LIMIT $6) n

-- name: lock_sources
SELECT m.id, m.content FROM memories m
WHERE m.shard = $1 AND m.condensed_into = $2 AND m.deleted_at IS NULL ORDER BY m.id FOR UPDATE

-- name: unarchive
UPDATE memories SET condensed_into = NULL, kept_apart = kept_apart OR $3, updated_at = $4
WHERE shard = $1 AND id = $2

-- name: repeat
UPDATE memories SET occurrences = occurrences + $3, updated_at = $4 WHERE shard = $1 AND id = $2

-- name: kept
-- Current memories of a scope as forgetting looks at them.
SELECT m.id, m.content, m.importance, m.occurred_at, m.updated_at, m.pinned, m.expires_at,
       greatest(m.updated_at, (SELECT r.last_at FROM recalls r WHERE r.shard = $1 AND r.memory_id = m.id)) AS used_at
FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND ($3::text IS NULL OR m.agent_id = $3)
  AND m.deleted_at IS NULL AND m.condensed_into IS NULL AND m.valid_to IS NULL
ORDER BY m.id

-- name: users
-- Users of this tenant after $1, up to $2.
SELECT DISTINCT user_id FROM memories WHERE user_id > $1 AND deleted_at IS NULL ORDER BY user_id LIMIT $2

-- name: lock_many
SELECT m.id, m.updated_at FROM memories m
WHERE m.shard = $1 AND m.id = ANY ($2::uuid[]) AND m.deleted_at IS NULL AND m.condensed_into IS NULL
  AND (NOT m.pinned OR m.expires_at <= $3)
ORDER BY m.id FOR UPDATE

-- name: twin
-- The current memory that is the same as $2.
SELECT t.id FROM memories m JOIN memories t ON t.shard = m.shard AND t.same_key = m.same_key AND t.id <> m.id
WHERE m.shard = $1 AND m.id = $2 AND t.deleted_at IS NULL AND t.condensed_into IS NULL AND t.valid_to IS NULL

-- name: give_way
UPDATE memories SET condensed_into = NULL, deleted_at = $3, updated_at = $3 WHERE shard = $1 AND id = $2
