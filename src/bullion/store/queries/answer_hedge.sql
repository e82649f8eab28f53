UPDATE hedge_requests
SET state = $3, outcome = $4, execution_id = $5, words = $6, answered_at_us = $7
WHERE book_id = $1 AND ordinal = $2
