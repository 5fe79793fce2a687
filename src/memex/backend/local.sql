-- name: begin
BEGIN IMMEDIATE

-- name: same
SELECT id, memory_id, keywords, tags, topic, superseded FROM record WHERE level = ? AND hash = ?

-- name: insert
INSERT INTO record (memory_id, level, hash, content, topic, keywords, tags, source_type, payload,
                    session_id, role, occurred_at, created_at, waiting)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: renew
UPDATE record SET occurred_at = max(occurred_at, ?), occurrences = occurrences + 1, keywords = ?, tags = ?,
                  topic = ?, superseded = min(superseded, ?), waiting = max(waiting, ?)
WHERE id = ?

-- name: add_term
INSERT INTO posting (term, record, impact) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: document_frequency
-- Counted up to a limit: beyond it a term is too common to look for candidates with.
SELECT count(*) FROM (SELECT 1 FROM posting WHERE term = ? LIMIT ?)

-- name: records
SELECT count(*) FROM record WHERE superseded = 0

-- name: candidates
-- Of each term the postings of the newest records, so that one very common word stays cheap.
WITH asked(term, weight) AS (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:asked))
SELECT p.record, sum(p.impact * a.weight) AS relevance
FROM asked a CROSS JOIN posting p ON p.term = a.term
WHERE p.record > :oldest
GROUP BY p.record ORDER BY relevance DESC, p.record DESC LIMIT :most

-- name: candidates_within
WITH asked(term, weight) AS (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:asked))
SELECT p.record, sum(p.impact * a.weight) AS relevance
FROM asked a CROSS JOIN posting p ON p.term = a.term CROSS JOIN record r ON r.id = p.record
WHERE (:time_from IS NULL OR r.occurred_at >= :time_from)
  AND (:time_to IS NULL OR r.occurred_at < :time_to)
  AND (:dimensions IS NULL OR r.topic IN (SELECT value FROM json_each(:dimensions))
       OR EXISTS (SELECT 1 FROM json_each(r.tags) t WHERE t.value IN (SELECT value FROM json_each(:dimensions))))
GROUP BY p.record ORDER BY relevance DESC, p.record DESC LIMIT :most

-- name: nth_newest
SELECT record FROM posting WHERE term = ? ORDER BY record DESC LIMIT 1 OFFSET ?

-- name: by_id
SELECT * FROM record WHERE id IN (SELECT value FROM json_each(?))

-- name: by_memory_id
SELECT * FROM record WHERE memory_id = ?

-- name: link
INSERT INTO link (link_id, from_record, to_record, relation, weight, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (from_record, to_record, relation) DO UPDATE SET weight = excluded.weight
RETURNING link_id

-- name: supersede
UPDATE record SET superseded = 1, waiting = 0 WHERE id = ?

-- name: waiting
SELECT * FROM record WHERE waiting = 1 ORDER BY id LIMIT ?

-- name: unpointed
-- Raw records whose text is still here: the newest, since the source takes a turn in after it was told.
SELECT id, session_id, role, content FROM record
WHERE level = 'raw' AND content IS NOT NULL AND session_id <> '' AND role <> ''
ORDER BY id DESC LIMIT ?

-- name: point
UPDATE record SET content = NULL, src_store_id = ?, src_digest = ? WHERE id = ? AND content IS NOT NULL

-- name: extracted
UPDATE record SET waiting = 0, extract_error = ? WHERE id = ?

-- name: counts
SELECT level, count(*), sum(waiting), sum(content IS NULL) FROM record GROUP BY level
