-- As a range in its order, which on PostgreSQL only the primary key has: see `some_orders`.
SELECT * FROM orders WHERE book_id = $1 AND ordinal BETWEEN $2 AND $2 ORDER BY ordinal LIMIT 1
