-- The books that have a settled key among those asked about. CROSS JOIN: each key is looked up by its index.
WITH asked (book_id, source, idempotency_key) AS (VALUES $rows)

SELECT orders.book_id
FROM asked
CROSS JOIN orders
    ON
        orders.book_id = asked.book_id
        AND orders.source = asked.source
        AND orders.idempotency_key = asked.idempotency_key
UNION ALL
SELECT price_moves.book_id
FROM asked
CROSS JOIN price_moves
    ON
        price_moves.book_id = asked.book_id
        AND price_moves.source = asked.source
        AND price_moves.idempotency_key = asked.idempotency_key
UNION ALL
SELECT archived_keys.book_id
FROM asked
CROSS JOIN archived_keys
    ON
        archived_keys.book_id = asked.book_id
        AND archived_keys.source = asked.source
        AND archived_keys.idempotency_key = asked.idempotency_key
