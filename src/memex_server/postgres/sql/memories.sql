-- fragment: row
m.shard, m.id, m.user_id, m.agent_id, m.session_id, m.memory_type, m.content, m.given_at, m.importance, m.tags,
m.metadata, m.source, m.pinned, m.occurrences, m.occurred_at, m.created_at, m.updated_at, m.valid_from, m.valid_to,
m.superseded_by, m.condensed_into, m.deleted_at, m.expires_at, m.sources, m.told_at

-- name: store
-- Inserts new memories with their vectors and terms, or counts a repeat of one that is there.
-- The answer has one row per input row, matched by same_key. Input rows have different keys and come
-- sorted by (shard, same_key), so two batches lock in the same order.
WITH input AS (
    SELECT * FROM unnest(
        $1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[],
        $9::timestamptz[], $10::float8[], $11::text[], $12::jsonb[], $13::text[], $14::boolean[], $15::integer[],
        $16::timestamptz[], $17::timestamptz[], $18::integer[], $31::smallint[], $32::timestamptz[],
        $33::timestamptz[])
    AS i (shard, id, user_id, agent_id, session_id, memory_type, content, same_key, given_at, importance, tags,
          metadata, source, pinned, occurrences, occurred_at, expires_at, n_terms, traits, valid_from, valid_to)
), input_terms AS (
    SELECT * FROM unnest($19::bigint[], $20::uuid[], $21::smallint[], $22::bigint[], $23::smallint[])
    AS t (shard, id, passage, term, tf)
), grouped_terms AS (
    SELECT id, array_agg(term) AS terms, array_agg(passage) AS passages, array_agg(tf) AS counts
    FROM input_terms GROUP BY id
), written AS (
    INSERT INTO memories AS m (
        shard, id, tenant_id, user_id, agent_id, session_id, memory_type, content, same_key, given_at, importance,
        tags, metadata, source, pinned, occurrences, occurred_at, created_at, updated_at, expires_at,
        terms, term_passages, term_counts, n_terms, traits, valid_from, valid_to)
    SELECT i.shard, i.id, $29, i.user_id, i.agent_id, i.session_id, i.memory_type, i.content, i.same_key,
           i.given_at, i.importance, ARRAY(SELECT jsonb_array_elements_text(i.tags::jsonb)), i.metadata, i.source,
           i.pinned, i.occurrences, i.occurred_at, $30, $30, i.expires_at,
           coalesce(g.terms, '{}'), coalesce(g.passages, '{}'), coalesce(g.counts, '{}'), i.n_terms, i.traits,
           i.valid_from, i.valid_to
    FROM input i LEFT JOIN grouped_terms g USING (id)
    ORDER BY i.shard, i.same_key
    ON CONFLICT (shard, same_key)
        WHERE deleted_at IS NULL AND condensed_into IS NULL AND valid_to IS NULL
    DO UPDATE SET
        occurrences = m.occurrences + excluded.occurrences,
        told_at = ARRAY(SELECT DISTINCT t
                        FROM unnest(coalesce(nullif(m.told_at, '{}'), ARRAY[m.occurred_at]) || excluded.occurred_at) t
                        ORDER BY 1 LIMIT 100),
        occurred_at = greatest(m.occurred_at, excluded.occurred_at),
        importance = greatest(m.importance, excluded.importance),
        -- as many as one memory may have
        tags = (m.tags || ARRAY(SELECT unnest(excluded.tags) EXCEPT SELECT unnest(m.tags) ORDER BY 1))[1:100],
        metadata = m.metadata || excluded.metadata,
        source = coalesce(m.source, excluded.source),
        sources = CASE WHEN excluded.source IS NULL OR excluded.source = m.source OR excluded.source = ANY (m.sources)
                       THEN m.sources ELSE (m.sources || excluded.source)[1:100] END,
        session_id = coalesce(m.session_id, excluded.session_id),
        pinned = m.pinned OR excluded.pinned,
        expires_at = CASE WHEN m.expires_at IS NOT NULL AND excluded.expires_at IS NOT NULL
                          THEN greatest(m.expires_at, excluded.expires_at) END,
        updated_at = $30
    RETURNING {row}, m.same_key
), vectors AS (
    INSERT INTO memory_vectors (shard, memory_id, passage, tenant_id, start_char, end_char, embedding)
    SELECT w.shard, w.id, v.passage, $29, v.start_char, v.end_char, v.embedding
    FROM unnest($24::uuid[], $25::smallint[], $26::integer[], $27::integer[], $28::halfvec[])
         AS v (id, passage, start_char, end_char, embedding)
    JOIN written w ON w.id = v.id
), terms AS (
    INSERT INTO memory_terms (shard, term, memory_id, passage, tf, tenant_id)
    SELECT w.shard, t.term, w.id, t.passage, t.tf, $29
    FROM input_terms t JOIN written w ON w.id = t.id
)
SELECT * FROM written

-- name: claim_key
INSERT INTO idempotency_keys (shard, key, tenant_id, fingerprint, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING key

-- name: read_key
SELECT fingerprint, outcome FROM idempotency_keys WHERE shard = $1 AND key = $2

-- name: settle_key
UPDATE idempotency_keys SET outcome = $3::jsonb WHERE shard = $1 AND key = $2

-- name: get
-- One memory by id: of user $2 and agent $3 where these are given, tombstones only when $4.
SELECT {row} FROM memories m
WHERE m.id = $1 AND ($2::text IS NULL OR m.user_id = $2) AND ($3::text IS NULL OR m.agent_id = $3)
  AND ($4::boolean OR m.deleted_at IS NULL)

-- name: get_many
SELECT {row} FROM memories m WHERE m.id = ANY ($1::uuid[])

-- name: lock
SELECT {row} FROM memories m
WHERE m.id = $1 AND ($2::text IS NULL OR m.user_id = $2) AND ($3::text IS NULL OR m.agent_id = $3)
  AND ($4::boolean OR m.deleted_at IS NULL)
FOR UPDATE

-- name: list
-- Newest first. $6 is the id after which the page begins; $7 live, deleted or all.
SELECT {row} FROM memories m
WHERE m.shard = $1 AND m.user_id = $2
  AND ($3::text IS NULL OR m.agent_id = $3)
  AND ($4::text IS NULL OR m.memory_type = $4)
  AND ($5::text[] IS NULL OR m.tags @> $5)
  AND ($6::uuid IS NULL OR m.id < $6)
  AND ($7 = 'all' OR ($7 = 'live' AND m.deleted_at IS NULL AND m.condensed_into IS NULL
                                        AND (m.valid_from IS NULL OR m.valid_from <= $9)
                                        AND (m.valid_to IS NULL OR m.valid_to > $9)
                                        AND (m.expires_at IS NULL OR m.expires_at > $9))
       OR ($7 = 'deleted' AND m.deleted_at IS NOT NULL))
ORDER BY m.id DESC
LIMIT $8

-- name: count
SELECT count(*) FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND ($3::text IS NULL OR m.agent_id = $3)
  AND m.deleted_at IS NULL AND m.condensed_into IS NULL
  AND (m.valid_from IS NULL OR m.valid_from <= $4) AND (m.valid_to IS NULL OR m.valid_to > $4)
  AND (m.expires_at IS NULL OR m.expires_at > $4)

-- name: first_versions
-- Memories as they were made, written down just before their first change.
INSERT INTO memory_versions (shard, memory_id, version, tenant_id, action, at, actor, content, importance,
                             memory_type, tags, metadata)
SELECT m.shard, m.id, 1, m.tenant_id, 'created', m.created_at, m.agent_id, m.content, m.importance,
       m.memory_type, m.tags, m.metadata
FROM memories m
WHERE m.shard = $1 AND m.id = ANY ($2::uuid[])
ON CONFLICT DO NOTHING

-- name: next_versions
INSERT INTO memory_versions (shard, memory_id, version, tenant_id, action, at, actor, reason, content, importance,
                             memory_type, tags, metadata)
SELECT m.shard, m.id,
       (SELECT max(v.version) + 1 FROM memory_versions v WHERE v.shard = $1 AND v.memory_id = m.id),
       m.tenant_id, $3, $4, $5, $6, m.content, m.importance, m.memory_type, m.tags, m.metadata
FROM memories m
WHERE m.shard = $1 AND m.id = ANY ($2::uuid[])

-- name: versions
SELECT version, action, at, actor, reason, content, importance, memory_type, tags, metadata
FROM memory_versions WHERE shard = $1 AND memory_id = $2 ORDER BY version

-- name: update
UPDATE memories AS m SET
    content = $3, same_key = $4, importance = $5, memory_type = $6, tags = $7, metadata = $8, source = $9,
    session_id = $10, given_at = $11, occurred_at = $12, expires_at = $13, pinned = $14, updated_at = $15,
    told_at = CASE WHEN m.occurred_at = $12 THEN m.told_at ELSE '{}' END
WHERE m.shard = $1 AND m.id = $2
RETURNING {row}

-- name: put_terms
UPDATE memories SET terms = $3, term_passages = $4, term_counts = $5, n_terms = $6, traits = $7
WHERE shard = $1 AND id = $2

-- name: same_live
SELECT id FROM memories
WHERE shard = $1 AND same_key = $2 AND deleted_at IS NULL AND condensed_into IS NULL AND valid_to IS NULL

-- name: unbury
UPDATE memories AS m SET deleted_at = NULL, updated_at = $3 WHERE m.shard = $1 AND m.id = $2 RETURNING {row}

-- name: unindex_terms
-- The way is laid down (OFFSET 0): what the planner thinks of a scope that has just grown makes it compare every
-- posting with every memory, which takes minutes.
DELETE FROM memory_terms WHERE ctid = ANY (ARRAY(
    SELECT t.ctid
    FROM unnest($2::uuid[]) AS gone (id)
    CROSS JOIN LATERAL (SELECT m.terms FROM memories m WHERE m.shard = $1 AND m.id = gone.id OFFSET 0) m
    CROSS JOIN LATERAL unnest(m.terms) AS q (term)
    CROSS JOIN LATERAL (
        SELECT p.ctid FROM memory_terms p WHERE p.shard = $1 AND p.term = q.term AND p.memory_id = gone.id OFFSET 0
    ) t
))

-- name: unindex_vectors
DELETE FROM memory_vectors WHERE shard = $1 AND memory_id = ANY ($2::uuid[])

-- name: index_terms
INSERT INTO memory_terms (shard, term, memory_id, passage, tf, tenant_id)
SELECT m.shard, q.term, m.id, q.passage, q.tf, m.tenant_id
FROM memories m, unnest(m.terms, m.term_passages, m.term_counts) q (term, passage, tf)
WHERE m.shard = $1 AND m.id = $2

-- name: index_vectors
INSERT INTO memory_vectors (shard, memory_id, passage, tenant_id, start_char, end_char, embedding)
SELECT $1, $2, v.passage, $3, v.start_char, v.end_char, v.embedding
FROM unnest($4::smallint[], $5::integer[], $6::integer[], $7::halfvec[])
     AS v (passage, start_char, end_char, embedding)

-- name: bury_many
UPDATE memories SET deleted_at = $3, updated_at = $3 WHERE shard = $1 AND id = ANY ($2::uuid[])

-- name: lock_sources
-- Sources of a summary, locked: live ones, or those that were deleted with it at $3.
SELECT m.id FROM memories m
WHERE m.shard = $1 AND m.condensed_into = $2 AND m.deleted_at IS NOT DISTINCT FROM $3::timestamptz
ORDER BY m.id FOR UPDATE

-- name: unbury_many
UPDATE memories SET deleted_at = NULL, updated_at = $3 WHERE shard = $1 AND id = ANY ($2::uuid[])

-- name: derived
-- What was made of the memories $2, or what they were made of: it goes with them.
SELECT id FROM memories WHERE shard = $1 AND condensed_into = ANY ($2::uuid[])
UNION
SELECT condensed_into FROM memories WHERE shard = $1 AND id = ANY ($2::uuid[]) AND condensed_into IS NOT NULL

-- name: purge_retractions
DELETE FROM retractions WHERE shard = $1 AND memory_id = ANY ($2::uuid[]) RETURNING over

-- name: end_again
-- Those of $2 that are current, or went over to what superseded $3, end at $4, by $3: what superseded them is back.
UPDATE memories SET valid_to = $4, superseded_by = $3, updated_at = $5
WHERE shard = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL AND condensed_into IS NULL
  AND (superseded_by IS NULL OR superseded_by = (SELECT m.superseded_by FROM memories m WHERE m.shard = $1 AND m.id = $3))
RETURNING id

-- name: purge_scope_retractions
DELETE FROM retractions WHERE shard = $1 AND user_id = $2 AND ($3::text IS NULL OR agent_id = $3)

-- name: lock_scope
-- Rows of the scope, tombstones too, locked in one order.
SELECT m.id, m.deleted_at IS NULL AS live FROM memories m
WHERE m.shard = $1 AND m.user_id = $2 AND ($3::text IS NULL OR m.agent_id = $3)
ORDER BY m.id FOR UPDATE

-- name: go_on
-- What $2 would supersede at a time to come (after $3) goes on, or until $2 itself would have been superseded.
UPDATE memories m SET superseded_by = gone.superseded_by, valid_to = gone.valid_to, updated_at = $3
FROM memories gone
WHERE m.shard = $1 AND m.superseded_by = $2 AND m.valid_to > $3 AND gone.shard = $1 AND gone.id = $2
  AND (gone.valid_to IS NOT NULL OR NOT EXISTS (
      SELECT FROM memories t WHERE t.shard = $1 AND t.same_key = m.same_key
      AND t.deleted_at IS NULL AND t.condensed_into IS NULL AND t.valid_to IS NULL))
RETURNING m.id

-- name: hand_on
-- Those that the memories $2 superseded have the successors of these, or none, and stay over.
WITH RECURSIVE heirs AS (
    SELECT m.id AS gone, m.superseded_by AS heir FROM memories m WHERE m.shard = $1 AND m.id = ANY ($2::uuid[])
    UNION
    SELECT h.gone, m.superseded_by FROM heirs h JOIN memories m ON m.shard = $1 AND m.id = h.heir
    WHERE h.heir = ANY ($2::uuid[])
)
UPDATE memories m SET superseded_by = h.heir
FROM heirs h
WHERE m.shard = $1 AND m.superseded_by = h.gone AND m.id <> ALL ($2::uuid[])
  AND (h.heir IS NULL OR h.heir <> ALL ($2::uuid[]))
RETURNING m.id

-- name: inherit
-- Sources of retracted summaries that are purged as $2 without them are retracted themselves.
INSERT INTO retractions (shard, memory_id, tenant_id, user_id, agent_id, content, reason, actor, at, over)
SELECT m.shard, m.id, m.tenant_id, m.user_id, m.agent_id, m.content, r.reason, r.actor, r.at, '{}'
FROM retractions r JOIN memories m ON m.shard = r.shard AND m.condensed_into = r.memory_id
WHERE r.shard = $1 AND r.memory_id = ANY ($2::uuid[]) AND m.id <> ALL ($2::uuid[]) AND m.deleted_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: let_go
-- Tombstones that went with a summary are tombstones by themselves when it is purged without them.
UPDATE memories SET condensed_into = NULL
WHERE shard = $1 AND condensed_into = ANY ($2::uuid[]) AND id <> ALL ($2::uuid[]) AND deleted_at IS NOT NULL
RETURNING id

-- name: purge_versions
DELETE FROM memory_versions WHERE shard = $1 AND memory_id = ANY ($2::uuid[])

-- name: purge_rows
DELETE FROM memories WHERE shard = $1 AND id = ANY ($2::uuid[])

-- name: due_for_purge
-- Tombstones made before $1, up to $2.
SELECT shard, array_agg(id) AS ids FROM (
    SELECT shard, id FROM memories WHERE deleted_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED) due
GROUP BY shard

-- name: bury_expired
-- Expired memories become tombstones, up to $2 of them; a summary together with its sources.
WITH due AS (
    SELECT shard, id FROM memories
    WHERE expires_at <= $1 AND deleted_at IS NULL LIMIT $2 FOR UPDATE SKIP LOCKED
), sources AS (
    SELECT m.shard, m.id FROM memories m JOIN due ON m.shard = due.shard AND m.condensed_into = due.id
    WHERE m.deleted_at IS NULL FOR UPDATE OF m
), buried AS (
    UPDATE memories m SET deleted_at = $1, updated_at = $1
    FROM (SELECT * FROM due UNION SELECT * FROM sources) gone
    WHERE m.shard = gone.shard AND m.id = gone.id
    RETURNING m.shard, m.id
)
SELECT shard, array_agg(id) AS ids FROM buried GROUP BY shard

-- name: forget_keys
DELETE FROM idempotency_keys WHERE created_at < $1

-- name: forget_counters
DELETE FROM rate_limits WHERE last_at < $1

-- name: hit
-- Counts a call unless $6 calls of the last 60 s are counted already; `allowed` says which.
INSERT INTO rate_limits AS r (shard, agent_key, operation, tenant_id, hits, last_at, allowed)
VALUES ($1, $2, $3, $4, ARRAY[$5::timestamptz], $5, true)
ON CONFLICT (shard, agent_key, operation) DO UPDATE SET
    (hits, allowed) = (
        SELECT CASE WHEN count(h) < $6 THEN array_agg(h ORDER BY h) || $5 ELSE array_agg(h ORDER BY h) END,
               count(h) < $6
        FROM unnest(r.hits) h WHERE h > $5 - interval '60 s'),
    last_at = $5
RETURNING hits[1] AS oldest, cardinality(hits) AS used, allowed
