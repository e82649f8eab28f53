-- Books: the positions and counts of an account, one for each environment.

-- fragment: book_columns
id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count, last_order_at_us, version

-- name: one_book
SELECT @book_columns FROM books WHERE id = $1

-- name: some_books (postgres)
SELECT @book_columns FROM books WHERE id = ANY ($1::BIGINT [])

-- name: some_books (sqlite)
WITH asked (id) AS (VALUES $rows)

SELECT books.* FROM asked CROSS JOIN books ON books.id = asked.id

-- fragment: has_price_moves(book) (postgres)
-- Not EXISTS: a generic plan might read the price moves of all books.
(SELECT price_moves.book_id FROM price_moves WHERE price_moves.book_id = {book} LIMIT 1) IS NOT NULL

-- name: books_to_decide (postgres)
SELECT
    @book_columns,
    @has_price_moves(books.id) AS has_price_moves
FROM books
WHERE id = ANY ($1::BIGINT [])

-- name: lock_books (postgres)
SELECT @book_columns FROM books WHERE id = ANY ($1::BIGINT []) ORDER BY id FOR UPDATE

-- name: lock_book
-- No other session can change it before this transaction ends.
SELECT @book_columns, unsummed_from FROM books WHERE id = $1
@for_update

-- name: listed_book
SELECT @book_columns, unsummed_from FROM books WHERE id = $1

-- name: books_of_account
-- By their ids, which are twice the account's, and that plus one.
SELECT * FROM books WHERE id BETWEEN CAST($1 AS BIGINT) * 2 AND CAST($1 AS BIGINT) * 2 + 1 ORDER BY id

-- name: book_with_weights
-- A book and its open weight per symbol; one row if nothing is open.
SELECT books.*, weights.symbol_code, weights.metal, weights.buy_e4, weights.sell_e4
FROM books
LEFT JOIN open_weights AS weights
    ON weights.book_id = books.id AND (weights.buy_e4 > 0 OR weights.sell_e4 > 0)
WHERE books.id = $1
ORDER BY weights.symbol_code

-- name: insert_book
-- What the broker's accounts were told before this one was opened is not told again.
INSERT INTO books (id, account_id, environment, gold_limit_e4, silver_limit_e4, broker_events_through)
SELECT
    CAST($1 AS BIGINT), accounts.id, CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT),
    coalesce((SELECT max(events.number) FROM broker_events AS events WHERE events.broker = accounts.broker), 0)
FROM accounts
WHERE accounts.id = $2

-- name: allocation
SELECT gold_limit_e4, silver_limit_e4 FROM books WHERE account_id = $1 AND environment = 'production'

-- name: set_allocation
UPDATE books SET gold_limit_e4 = $2, silver_limit_e4 = $3, version = version + 1 WHERE account_id = $1

-- name: fence_book
-- Plans that were made for an earlier version are then no longer recorded.
UPDATE books SET version = version + 1 WHERE id = $1

-- name: reset_book
-- All orders so far leave positions, lists and counts. The ordinals continue.
UPDATE books
SET
    gold_net_e4 = 0,
    silver_net_e4 = 0,
    archived_count = order_count,
    unsummed_from = order_count + 1,
    version = version + 1
WHERE id = $1

-- name: count_reset
-- By this number, processes that cache counts of orders detect that a reset removed orders from the lists.
INSERT INTO deployment (name, value) VALUES ('test_book_resets', '1')
ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(deployment.value AS BIGINT) + 1 AS TEXT)

-- name: release_weight
UPDATE books
SET gold_net_e4 = gold_net_e4 - $2, silver_net_e4 = silver_net_e4 - $3, version = version + 1
WHERE id = $1

-- name: release_symbol_weight
UPDATE open_weights
SET buy_e4 = buy_e4 - $3, sell_e4 = sell_e4 - $4
WHERE book_id = $1 AND symbol_code = $2

-- name: net_weights
-- What all clients of a broker hold in production, per metal. Only production books have rows here; a book's id is
-- twice its account's, plus one.
SELECT open_weights.metal, CAST(sum(open_weights.buy_e4 - open_weights.sell_e4) AS BIGINT) AS net_e4
FROM open_weights
INNER JOIN accounts ON accounts.id = open_weights.book_id / 2
WHERE accounts.broker = $1
GROUP BY open_weights.metal
