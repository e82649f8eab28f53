SELECT * FROM accounts WHERE id > $1 ORDER BY id LIMIT $2
