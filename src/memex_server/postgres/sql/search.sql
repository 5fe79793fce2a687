-- Packed columns: each subselect returns one byte string per column, all in the same row order, so
-- that a scope of thousands of rows crosses as a handful of values. A key is the second half of a
-- memory's id (its random half), enough to join the columns of one scope.

-- fragment: kept
-- Of the rows n, in their order, those that match; each is looked at only when it is asked for (LIMIT 1).
CROSS JOIN LATERAL (SELECT {turn} FROM memories m WHERE m.id = n.memory_id AND {matching} LIMIT 1) kept

-- fragment: matching
-- What may be found: $1 shard, $2 tenant, $3 user, $4 agent, $5 type, $6 tags, $7 metadata contained,
-- $8 metadata path, $9 its variables, $10 from, $11 to, $12 valid at, $13 known by (null: whenever),
-- $14 or valid later, up to then (null: no)
m.shard = $1 AND m.tenant_id = $2 AND m.user_id = $3
AND m.deleted_at IS NULL AND m.condensed_into IS NULL
AND (m.expires_at IS NULL OR m.expires_at > $12)
AND (m.valid_from IS NULL OR m.valid_from <= greatest($12, $14::timestamptz)) AND (m.valid_to IS NULL OR m.valid_to > $12)
AND ($4::text IS NULL OR m.agent_id = $4)
AND ($5::text IS NULL OR m.memory_type = $5)
AND ($6::text[] IS NULL OR m.tags @> $6)
AND ($7::jsonb IS NULL OR m.metadata @> $7)
AND ($8::text IS NULL OR coalesce(jsonb_path_match(m.metadata, $8::text::jsonpath, $9::jsonb, true), false))
AND ($10::timestamptz IS NULL OR m.occurred_at >= $10)
AND ($11::timestamptz IS NULL OR m.occurred_at < $11)
AND ($13::timestamptz IS NULL OR {since} <= $13)

-- fragment: since
-- When a memory began to be true, as far as that is known.
coalesce(m.valid_from, least(m.created_at, m.occurred_at, m.told_at[1]))

-- fragment: turn
m.id, m.session_id IS NOT NULL AND m.traits & 1 = 1 AS turn

-- fragment: memory_columns
string_agg(uuid_send(m.id), '') AS ids,
string_agg(timestamptz_send(m.occurred_at), '') AS occurred,
string_agg(float8send(m.importance), '') AS importance,
string_agg(int8send(coalesce(hashtextextended(m.session_id, 0), 0)), '') AS sessions,
string_agg(int4send(m.n_terms), '') AS lengths,
string_agg(int2send(m.traits), '') AS traits

-- fragment: vector_columns
string_agg(substr(uuid_send(v.memory_id), 9), '') AS vector_keys,
string_agg(int2send(v.passage), '') AS vector_passages,
string_agg(float4send((v.embedding <#> $15::halfvec)::float4), '') AS products

-- fragment: term_columns
string_agg(substr(uuid_send(t.memory_id), 9), '') AS term_keys,
string_agg(int8send(t.term), '') AS terms,
string_agg(int2send(t.passage), '') AS term_passages,
string_agg(int2send(t.tf), '') AS term_counts

-- name: exact
-- The signals of every memory of the scope that matches. $15 query vector or null, $16 query terms.
SELECT ms.*, vs.*, ts.*
FROM (SELECT {memory_columns} FROM memories m WHERE {matching}) ms,
     (SELECT {vector_columns} FROM memory_vectors v WHERE v.shard = $1 AND $15::halfvec IS NOT NULL) vs,
     (SELECT {term_columns} FROM memory_terms t WHERE t.shard = $1 AND t.term = ANY ($16::bigint[])) ts

-- name: scope
-- $1 shard, $2 terms of a query
SELECT (SELECT version FROM scopes WHERE shard = $1) AS version,
       ARRAY(SELECT w.term FROM unnest($2::bigint[]) AS w (term)
             WHERE EXISTS (SELECT FROM memory_terms t WHERE t.shard = $1 AND t.term = w.term AND t.passage = -1)
            ) AS speakers

-- name: snapshot
-- Everything that searching the scope needs. $1 shard, $2 tenant, $3 user.
SELECT ms.*, vs.*, ts.*
FROM (SELECT {memory_columns},
             string_agg(substr(sha256(convert_to(m.agent_id, 'UTF8')), 1, 8), '') AS agents,
             string_agg(substr(sha256(convert_to(m.memory_type, 'UTF8')), 1, 8), '') AS types,
             string_agg(timestamptz_send(coalesce(m.expires_at, 'infinity')), '') AS expires,
             string_agg(timestamptz_send(coalesce(m.valid_from, '-infinity')), '') AS valid_from,
             string_agg(timestamptz_send(coalesce(m.valid_to, 'infinity')), '') AS valid_to,
             string_agg(timestamptz_send({since}), '') AS since
      FROM memories m
      WHERE m.shard = $1 AND m.tenant_id = $2 AND m.user_id = $3
        AND m.deleted_at IS NULL AND m.condensed_into IS NULL) ms,
     (SELECT string_agg(substr(uuid_send(v.memory_id), 9), '') AS vector_keys,
             string_agg(int2send(v.passage), '') AS vector_passages,
             string_agg(int4send(v.start_char), '') AS starts,
             string_agg(int4send(v.end_char), '') AS ends,
             string_agg(halfvec_send(v.embedding), '') AS vectors
      FROM memory_vectors v WHERE v.shard = $1) vs,
     (SELECT {term_columns} FROM memory_terms t WHERE t.shard = $1) ts

-- name: chosen
-- The same for the memories in $16 only: what they are and mean.
SELECT ms.*, vs.*
FROM (SELECT {memory_columns} FROM memories m WHERE m.id = ANY ($16::uuid[]) AND {matching}) ms,
     (SELECT {vector_columns} FROM memory_vectors v
      WHERE v.shard = $1 AND v.memory_id = ANY ($16::uuid[]) AND $15::halfvec IS NOT NULL) vs

-- name: chosen_terms
-- And which terms they ($3) hold: all terms of those of up to $4 words, as they were stored with them; of
-- longer ones those of $2, looked up in the index term by term (OFFSET 0).
WITH chosen AS MATERIALIZED (
    SELECT m.id, m.n_terms, m.terms, m.term_passages, m.term_counts
    FROM memories m WHERE m.shard = $1 AND m.id = ANY ($3::uuid[])
)
SELECT short.*, ts.*
FROM (SELECT string_agg(substr(uuid_send(id), 9), '') AS short_keys,
             string_agg(int4send(cardinality(terms)), '') AS short_lengths,
             string_agg(array_send(terms), '') AS short_terms,
             string_agg(array_send(term_passages), '') AS short_passages,
             string_agg(array_send(term_counts), '') AS short_counts
      FROM chosen WHERE n_terms <= $4 AND terms <> '{}') short,
     (SELECT {term_columns}
      FROM unnest($2::bigint[]) AS q (term)
      CROSS JOIN LATERAL (
          SELECT p.memory_id, p.term, p.passage, p.tf FROM memory_terms p
          WHERE p.shard = $1 AND p.term = q.term
            AND p.memory_id = ANY (ARRAY(SELECT id FROM chosen WHERE n_terms > $4)) OFFSET 0) t) ts

-- name: matching_ids
-- Ids of up to $15 memories that match.
SELECT m.id FROM memories m WHERE {matching} LIMIT $15

-- name: nearest
-- The memories of up to $16 passages by the vector index, and of as many of what is not in it (yet), and how many
-- passages of each those are. The fences (OFFSET 0, LIMIT 1) make the index deliver in order of distance and each
-- condition apply to what it delivers, so the limit is met whenever enough of them match, and no further rows are
-- looked at; a scope that has nothing in the index does not ask it. A turn has others beside it.
SELECT id, turn, count(*) AS passages FROM (
    (SELECT kept.id, kept.turn
     FROM (SELECT v.shard, v.memory_id FROM memory_vectors v WHERE v.indexed
           ORDER BY v.embedding <#> $15::halfvec OFFSET 0) n
     {kept}
     WHERE n.shard = $1 AND EXISTS (SELECT FROM memory_vectors v WHERE v.indexed AND v.shard = $1)
     LIMIT $16)
    UNION ALL
    (SELECT kept.id, kept.turn
     FROM (SELECT v.memory_id FROM memory_vectors v WHERE NOT v.indexed AND v.shard = $1
           ORDER BY (v.embedding <#> $15::halfvec) + 0 OFFSET 0) n
     {kept}
     LIMIT $16)) found
GROUP BY id, turn

-- name: nearest_exact
-- The same by reading every vector of the scope.
SELECT id, turn, count(*) AS passages FROM (
    SELECT kept.id, kept.turn
    FROM (SELECT v.memory_id FROM memory_vectors v WHERE v.shard = $1
          ORDER BY (v.embedding <#> $15::halfvec) + 0 OFFSET 0) n
    {kept}
    LIMIT $16) found
GROUP BY id, turn

-- name: term_frequencies
-- In how many passages of the scope each term of $2 occurs, counted up to $3.
SELECT q.term, (SELECT count(*) FROM (
           SELECT FROM memory_terms t WHERE t.shard = $1 AND t.term = q.term LIMIT $3) counted) AS df
FROM unnest($2::bigint[]) q (term)

-- name: common_terms
-- Those terms of the scope that have $2 postings or more.
SELECT t.term, count(*) AS df FROM memory_terms t WHERE t.shard = $1 GROUP BY t.term HAVING count(*) >= $2

-- name: by_words
-- Up to $17 memories that match, by the weight ($16) of the terms ($15) that they hold.
SELECT kept.id, kept.turn
FROM (SELECT t.memory_id, sum(q.weight * t.tf / (t.tf + 1.2::float8)) AS score
      FROM unnest($15::bigint[], $16::float8[]) q (term, weight)
      JOIN memory_terms t ON t.shard = $1 AND t.term = q.term
      GROUP BY t.memory_id
      ORDER BY score DESC OFFSET 0) n
{kept}
LIMIT $17

-- name: beside
-- The turns next to those in $2, two on either side.
SELECT DISTINCT near.id
FROM memories m
CROSS JOIN LATERAL (
    (SELECT b.id FROM memories b
     WHERE b.shard = $1 AND b.session_id = m.session_id AND (b.occurred_at, b.id) < (m.occurred_at, m.id)
     ORDER BY b.occurred_at DESC, b.id DESC LIMIT 2)
    UNION ALL
    (SELECT a.id FROM memories a
     WHERE a.shard = $1 AND a.session_id = m.session_id AND (a.occurred_at, a.id) > (m.occurred_at, m.id)
     ORDER BY a.occurred_at, a.id LIMIT 2)) near
WHERE m.id = ANY ($2::uuid[]) AND m.shard = $1

-- name: newest
-- The $15 newest memories that match.
SELECT {turn} FROM memories m WHERE {matching} ORDER BY m.occurred_at DESC LIMIT $15

-- name: registered
-- Up to $16 memories that match and are registered under keywords of $15, those under most of them first.
SELECT m.id, k.keys
FROM (SELECT memory_id, array_agg(keyword) AS keys
      FROM memory_keywords WHERE shard = $1 AND keyword = ANY ($15::text[]) GROUP BY memory_id) k
JOIN memories m ON m.id = k.memory_id AND {matching}
ORDER BY cardinality(k.keys) DESC, m.occurred_at DESC, m.id LIMIT $16

-- name: scope_size
SELECT count(*) FROM memories WHERE shard = $1

-- name: fetch
-- Whole memories (without their terms, of which long ones have thousands) for the best, if they still match,
-- each with the span of its passage.
SELECT m.id, m.user_id, m.agent_id, m.session_id, m.memory_type, m.content, m.importance, m.tags, m.metadata, m.source,
       m.pinned, m.occurrences, m.occurred_at, m.created_at, m.updated_at, m.valid_from, m.valid_to, m.superseded_by,
       m.condensed_into, m.deleted_at, m.expires_at, m.sources, m.told_at, v.start_char, v.end_char,
       (SELECT max(passage) FROM memory_vectors w WHERE w.shard = $1 AND w.memory_id = m.id) AS last_passage
FROM unnest($15::uuid[], $16::smallint[]) c (id, passage)
CROSS JOIN LATERAL (SELECT * FROM memories m WHERE m.id = c.id AND {matching} LIMIT 1) m
LEFT JOIN memory_vectors v ON v.shard = $1 AND v.memory_id = c.id AND v.passage = c.passage
