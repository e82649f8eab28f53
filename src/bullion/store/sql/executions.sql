-- The venue's executions that no order accounts for, and how far its list was compared.

-- name: execution_cursor
SELECT position FROM execution_cursors WHERE venue = $1 AND broker = $2

-- name: move_execution_cursor
-- Only from the cursor that this node started from: if two nodes did the same work, one of them moves it.
INSERT INTO execution_cursors AS cursors (venue, broker, position)
VALUES ($1, $2, $4)
ON CONFLICT (broker, venue) DO UPDATE SET position = excluded.position WHERE cursors.position = $3
RETURNING position

-- name: insert_unmatched_execution
-- An execution that is known already does not change, also if a dealer has resolved it.
INSERT INTO unmatched_executions (
    broker, venue, execution_id, reason, order_id, metal, instrument, trade_type, quantity_e4, excess_e4,
    executed_at_us, seen_at_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (broker, execution_id, venue) DO NOTHING

-- name: unmatched_execution
SELECT *
FROM unmatched_executions
WHERE broker = $1 AND execution_id = $2
ORDER BY CASE WHEN resolved_by IS NULL THEN 0 ELSE 1 END, seen_at_us
LIMIT 1

-- name: unmatched_at_venue
SELECT order_id FROM unmatched_executions WHERE broker = $1 AND execution_id = $2 AND venue = $3

-- fragment: unresolved
FROM unmatched_executions
WHERE broker = $1 AND resolved_by IS NULL

-- name: unmatched_executions_page
SELECT * @unresolved
ORDER BY seen_at_us, execution_id LIMIT $2 OFFSET $3

-- name: count_unmatched_executions
SELECT count(*) AS total @unresolved

-- name: unmatched_weights
-- The weight that the venue has executed beyond the orders, per metal.
SELECT metal, CAST(sum(excess_e4) AS BIGINT) AS excess_e4, count(*) AS executions
@unresolved AND metal IS NOT NULL
GROUP BY metal

-- name: resolve_unmatched_execution
UPDATE unmatched_executions
SET resolved_by = $4, resolution = $5
WHERE broker = $1 AND execution_id = $2 AND venue = $3 AND resolved_by IS NULL
RETURNING execution_id
