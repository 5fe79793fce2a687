-- name: newest_equal
SELECT store_id FROM messages
WHERE session_id = ? AND role = ? AND content = ?
ORDER BY store_id DESC LIMIT 1

-- name: text
SELECT content FROM messages WHERE store_id = ?
