SELECT * FROM accounts WHERE broker = $1 ORDER BY login_id LIMIT $2 OFFSET $3
