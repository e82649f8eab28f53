UPDATE books
SET gold_limit_e4 = $2, silver_limit_e4 = $3, version = version + 1
WHERE account_id = $1
