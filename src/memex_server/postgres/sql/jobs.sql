-- fragment: row
j.id, j.kind, j.key, j.payload, j.state, j.attempts, j.run_at, j.last_error, j.created_at, j.updated_at

-- name: enqueue
INSERT INTO jobs (shard, id, tenant_id, kind, key, payload, state, run_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $7, $7)
ON CONFLICT (shard, kind, key) DO NOTHING
RETURNING id

-- name: claim
-- The job of kinds $2 that waits longest, leased until $4; one whose lease is over is taken too.
UPDATE jobs AS j SET state = 'running', lease_until = $4, attempts = j.attempts + 1, updated_at = $3
FROM (SELECT shard, id FROM jobs
      WHERE tenant_id = $1 AND kind = ANY ($2::text[])
        AND ((state = 'pending' AND run_at <= $3) OR (state = 'running' AND lease_until <= $3))
      ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED) due
WHERE j.shard = due.shard AND j.id = due.id
RETURNING {row}

-- name: done
-- Only by the one that still has it: $2 is when it was claimed.
DELETE FROM jobs WHERE id = $1 AND state = 'running' AND updated_at = $2

-- name: failed
UPDATE jobs AS j SET state = $3, run_at = $4, last_error = $5, lease_until = NULL, updated_at = $6
WHERE j.id = $1 AND j.state = 'running' AND j.updated_at = $2
RETURNING j.state

-- name: hand_back
UPDATE jobs SET state = 'pending', attempts = attempts - 1, lease_until = NULL, updated_at = $3
WHERE id = $1 AND state = 'running' AND updated_at = $2

-- name: list
SELECT {row} FROM jobs j WHERE j.tenant_id = $1 AND ($2::text IS NULL OR j.state = $2)
ORDER BY j.created_at, j.id LIMIT $3

-- name: revive
UPDATE jobs AS j SET state = 'pending', attempts = 0, run_at = $2, updated_at = $2
WHERE j.id = $1 AND j.state = 'dead'
RETURNING {row}
