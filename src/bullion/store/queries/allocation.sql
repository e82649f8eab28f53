SELECT gold_limit_e4, silver_limit_e4 FROM books WHERE account_id = $1 AND environment = 'production'
