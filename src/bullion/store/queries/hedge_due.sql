SELECT 1 AS due FROM hedge_requests WHERE state = 'waiting' AND due_at_us < $1 AND venue = $2 LIMIT 1
