SELECT * FROM accounts WHERE broker = $1 AND login_id = $2
