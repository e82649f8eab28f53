-- The state as in `postpone_hedge`.
UPDATE hedge_requests
SET state = 'withdrawn'
WHERE book_id = $1 AND ordinal = $2 AND state = (SELECT 'waiting')
