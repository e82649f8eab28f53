SELECT * FROM orders WHERE book_id = $1 AND ordinal = $2
