-- Requests that are due are this node's until $2. Their books are named as lists of one: by a plain `=`, a plan made
-- on an empty table might begin with all requests that there are.
WITH due AS MATERIALIZED (
    SELECT book_id, ordinal
    FROM hedge_requests
    WHERE state = 'waiting' AND due_at_us < $3 AND venue = $5
    ORDER BY due_at_us
    LIMIT $4
    FOR UPDATE SKIP LOCKED
)

UPDATE hedge_requests
SET holder = $1, due_at_us = $2
FROM due
WHERE hedge_requests.book_id = ANY (ARRAY[due.book_id]) AND hedge_requests.ordinal = due.ordinal
