INSERT INTO books (id, account_id, environment, gold_limit_e4, silver_limit_e4)
VALUES ($1, $2, $3, $4, $5)
