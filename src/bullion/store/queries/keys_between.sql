SELECT * FROM keys WHERE account_id > $1 AND account_id <= $2
