SELECT * FROM hedge_requests WHERE book_id = $1 AND ordinal = $2
