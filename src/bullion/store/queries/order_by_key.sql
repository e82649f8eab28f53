SELECT *
FROM orders
WHERE book_id = $1 AND source = $2 AND idempotency_key = $3
