-- What a batch is judged by: the catalogue's version; the books, out of those in $2, that have a settled key among
-- those in $1; and these books themselves. In one row: whoever steps through many waits for its turn after each.
-- CROSS JOIN: each key is looked up by its index.
WITH asked (book_id, source, idempotency_key) AS MATERIALIZED (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
    FROM json_each($1)
),

settled (book_id) AS (
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
)

SELECT
    (SELECT version FROM catalogue WHERE one = 1) AS version,
    (SELECT json_group_array(book_id) FROM settled) AS settled,
    (
        SELECT
            json_group_array(
                json_array(
                    books.id, gold_net_e4, gold_limit_e4, silver_net_e4, silver_limit_e4, order_count,
                    archived_count, last_order_at_us, books.version
                )
            )
        FROM json_each($2) AS wanted
        CROSS JOIN books ON books.id = wanted.value
    ) AS books
