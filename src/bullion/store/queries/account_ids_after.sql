SELECT id FROM accounts WHERE broker = $1 AND login_id > $2 ORDER BY login_id LIMIT $3
