-- In their order, so that they are found by that.
INSERT INTO archived_keys (book_id, source, idempotency_key, ordinal, made_at_ms)
SELECT book_id, source, idempotency_key, ordinal, created_at_us / 1000
FROM orders
WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3
ORDER BY ordinal
