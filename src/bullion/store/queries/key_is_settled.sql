SELECT 1 FROM orders WHERE book_id = $1 AND source = $2 AND idempotency_key = $3
UNION ALL
SELECT 1 FROM price_moves WHERE book_id = $1 AND source = $2 AND idempotency_key = $3
