SELECT count(*) AS total FROM accounts WHERE broker = $1
