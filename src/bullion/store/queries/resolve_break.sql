-- The state as in `postpone_hedge`.
UPDATE hedge_requests
SET state = 'answered', resolved_by = $3, resolution = $4
WHERE book_id = $1 AND ordinal = $2 AND state = (SELECT 'broken')
RETURNING ordinal
