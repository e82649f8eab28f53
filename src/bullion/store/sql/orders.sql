-- Single orders and their changes.

-- fragment: primary_key(book, ordinal)
-- A range in the order of ordinals, which only the primary key has. With `=`, a generic plan that PostgreSQL made while
-- the table was empty may scan all keys of the book.
WHERE orders.book_id = {book} AND orders.ordinal BETWEEN {ordinal} AND {ordinal} ORDER BY orders.ordinal LIMIT 1

-- name: one_order
SELECT * FROM orders WHERE book_id = $1 AND ordinal = $2 AND id = $3

-- name: order_at
SELECT * FROM orders @primary_key($1, $2)

-- name: order_by_key
SELECT * FROM orders WHERE book_id = $1 AND source = $2 AND idempotency_key = $3

-- name: price_move_by_key
SELECT * FROM price_moves WHERE book_id = $1 AND source = $2 AND idempotency_key = $3

-- name: some_orders (postgres)
-- By book and ordinal. The caller compares the ids.
SELECT found.*
FROM unnest($1::BIGINT [], $2::BIGINT []) AS asked (book_id, ordinal)
CROSS JOIN LATERAL (SELECT * FROM orders @primary_key(asked.book_id, asked.ordinal)) AS found

-- name: orders_by_ordinal (postgres)
SELECT found.*
FROM unnest($2::BIGINT []) AS asked (ordinal)
CROSS JOIN LATERAL (SELECT * FROM orders @primary_key($1, asked.ordinal)) AS found

-- name: orders_by_ordinal (sqlite)
WITH asked (book_id, ordinal) AS (VALUES $rows)

SELECT orders.*
FROM asked
CROSS JOIN orders ON orders.book_id = asked.book_id AND orders.ordinal = asked.ordinal

-- fragment: row_place (postgres)
ctid

-- fragment: row_place (sqlite)
rowid

-- name: change_order
-- Only if it is still in the state $3. By its ctid, which the primary key finds: see @primary_key. The transaction has
-- locked the book, so the order's row does not move meanwhile.
UPDATE orders
SET status = $4, deal_no = $5, close_price_paise = $6, realized_pnl_paise = $7, closed_at_us = $8
WHERE @row_place = (SELECT orders.@row_place FROM orders @primary_key($1, $2)) AND status = $3
RETURNING ordinal

-- name: insert_order_event
-- $7 and $8: its number among the account's events, and the orders up to then; null while the API hides the order.
INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words, number, orders_through)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: insert_order_events (sqlite)
INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words, number, orders_through) VALUES $rows

-- name: order_events
SELECT status, at_us, actor, words FROM order_events WHERE book_id = $1 AND ordinal = $2 ORDER BY at_us, status

-- name: next_deal_no
INSERT INTO deals (broker, last_deal_no)
VALUES ($1, 1)
ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + 1
RETURNING last_deal_no

-- fragment: middle_created_at
(SELECT orders.created_at_us FROM orders @primary_key($1, @middle))

-- fragment: middle
(search.low + search.high) / 2

-- name: first_ordinal_since
-- The first ordinal from $2 on whose order was made at $4 or later, or $3 if there is none. A binary search: within a
-- book, times rise with the ordinals.
WITH RECURSIVE search (low, high) AS (
    SELECT CAST($2 AS BIGINT), CAST($3 AS BIGINT)
    UNION ALL
    SELECT
        CASE WHEN @middle_created_at < $4 THEN @middle + 1 ELSE search.low END,
        CASE WHEN @middle_created_at < $4 THEN search.high ELSE @middle END
    FROM search
    WHERE search.low < search.high
)

SELECT low AS ordinal FROM search WHERE low = high
