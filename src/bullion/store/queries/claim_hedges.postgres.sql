-- Requests that are due are this node's until $2.
UPDATE hedge_requests
SET holder = $1, due_at_us = $2
WHERE
    (book_id, ordinal) IN (
        SELECT book_id, ordinal
        FROM hedge_requests
        WHERE state = 'waiting' AND due_at_us < $3 AND venue = $5
        ORDER BY due_at_us
        LIMIT $4
        FOR UPDATE SKIP LOCKED
    )
