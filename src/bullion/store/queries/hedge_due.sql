SELECT 1 AS due FROM hedge_requests WHERE state = 'waiting' AND due_at_us < $1 LIMIT 1
