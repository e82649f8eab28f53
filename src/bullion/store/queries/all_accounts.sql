SELECT * FROM accounts
