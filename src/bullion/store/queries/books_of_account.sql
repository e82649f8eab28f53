SELECT * FROM books WHERE account_id = $1 ORDER BY id
