SELECT count(*) AS total FROM keys WHERE account_id = $1
