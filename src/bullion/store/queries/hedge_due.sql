-- The longest due first, so that the index of what is due is the way there.
SELECT 1 AS due FROM hedge_requests WHERE state = 'waiting' AND due_at_us < $1 AND venue = $2 ORDER BY due_at_us LIMIT 1
