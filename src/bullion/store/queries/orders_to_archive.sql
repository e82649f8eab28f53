SELECT * FROM orders WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal
