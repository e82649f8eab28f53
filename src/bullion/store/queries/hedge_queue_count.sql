SELECT count(*) AS total FROM hedge_requests WHERE broker = $1 AND state = 'waiting'
