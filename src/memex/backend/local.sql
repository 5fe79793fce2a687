-- name: begin
BEGIN IMMEDIATE

-- name: same
SELECT * FROM record WHERE level = ? AND hash = ? ORDER BY superseded LIMIT 1

-- name: insert
INSERT INTO record (memory_id, level, hash, content, topic, keywords, tags, source_type, payload,
                    session_id, role, occurred_at, created_at, waiting)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: renew
UPDATE record SET topic = ?, keywords = ?, tags = ?, payload = ?, occurred_at = max(occurred_at, ?),
                  occurrences = occurrences + 1
WHERE id = ?

-- name: add_term
INSERT INTO posting (term, record, impact) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: document_frequency
-- Counted up to a limit: beyond it a term is too common to look for candidates with.
SELECT count(*) FROM (SELECT 1 FROM posting WHERE term = ? LIMIT ?)

-- name: records
SELECT max(id) FROM record

-- name: nth_newest
SELECT record FROM posting WHERE term = ? ORDER BY record DESC LIMIT 1 OFFSET ?

-- name: candidates
WITH asked(term, weight) AS (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:asked))
SELECT p.record, sum(p.impact * a.weight) AS relevance
FROM asked a CROSS JOIN posting p ON p.term = a.term
WHERE p.record > :oldest
GROUP BY p.record ORDER BY relevance DESC, p.record DESC LIMIT :most

-- name: candidates_within
-- As above, of the records that meet the conditions: filtered before the limit, never after.
WITH asked(term, weight) AS (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:asked))
SELECT p.record, sum(p.impact * a.weight) AS relevance
FROM asked a CROSS JOIN posting p ON p.term = a.term CROSS JOIN record r ON r.id = p.record
WHERE p.record > :oldest
  AND (:time_from IS NULL OR r.occurred_at >= :time_from)
  AND (:time_to IS NULL OR r.occurred_at < :time_to)
  AND NOT EXISTS (SELECT 1 FROM json_each(:dimensions) d
                  WHERE d.value <> r.topic AND d.value NOT IN (SELECT t.value FROM json_each(r.tags) t))
GROUP BY p.record ORDER BY relevance DESC, p.record DESC LIMIT :most

-- name: registered
SELECT DISTINCT p.record
FROM json_each(:keys) k CROSS JOIN posting p ON p.term = k.value
ORDER BY p.record DESC LIMIT :most

-- name: registered_within
SELECT DISTINCT p.record
FROM json_each(:keys) k CROSS JOIN posting p ON p.term = k.value CROSS JOIN record r ON r.id = p.record
WHERE (:time_from IS NULL OR r.occurred_at >= :time_from)
  AND (:time_to IS NULL OR r.occurred_at < :time_to)
  AND NOT EXISTS (SELECT 1 FROM json_each(:dimensions) d
                  WHERE d.value <> r.topic AND d.value NOT IN (SELECT t.value FROM json_each(r.tags) t))
ORDER BY p.record DESC LIMIT :most

-- name: by_id
SELECT * FROM record WHERE id IN (SELECT value FROM json_each(?))

-- name: by_memory_id
SELECT * FROM record WHERE memory_id = ?

-- name: links
SELECT l.link_id, f.memory_id, t.memory_id, l.relation, l.weight
FROM link l JOIN record f ON f.id = l.from_record JOIN record t ON t.id = l.to_record
WHERE l.from_record = :id OR l.to_record = :id
ORDER BY l.created_at, l.link_id

-- name: same_link
SELECT link_id FROM link WHERE from_record = ? AND to_record = ? AND relation = ?

-- name: add_link
INSERT INTO link (link_id, from_record, to_record, relation, weight, created_at) VALUES (?, ?, ?, ?, ?, ?)

-- name: weigh_link
UPDATE link SET weight = ? WHERE link_id = ?

-- name: supersede
UPDATE record SET superseded = 1, waiting = 0 WHERE id = ?

-- name: drop_postings
DELETE FROM posting WHERE record = :record AND term IN (SELECT value FROM json_each(:terms))

-- name: waiting
SELECT * FROM record WHERE waiting = 1 ORDER BY id LIMIT ?

-- name: extracted
UPDATE record SET waiting = 0, extract_error = ? WHERE id = ?

-- name: unpointed
-- The newest raw records whose text is still here: the source takes a turn in after memex was told of it.
SELECT id, session_id, role, content FROM record
WHERE level = 'raw' AND content IS NOT NULL AND session_id <> '' AND role <> ''
ORDER BY id DESC LIMIT ?

-- name: point
UPDATE record SET content = NULL, src_store_id = ?, src_digest = ? WHERE id = ? AND content IS NOT NULL

-- name: counts
SELECT level, count(*) AS records, sum(waiting) AS waiting, sum(content IS NULL) AS pointers FROM record GROUP BY level
