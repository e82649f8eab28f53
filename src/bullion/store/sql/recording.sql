-- Recording a batch of orders: one statement on PostgreSQL, a few in one transaction on SQLite.

-- fragment: order_columns
book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price, client_order_id,
metal, price_paise, total_paise, status, key_id, request_id, created_at_us, price_anatomy

-- fragment: price_move_columns
book_id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price, client_order_id, price_paise,
tolerance_percent_e4, request_id, at_us

-- fragment: hedge_request_columns
book_id, ordinal, order_id, broker, instrument, took_stock, holder, due_at_us, venue, fineness_e4

-- fragment: key_in(table) (postgres)
-- LIMIT: each key is looked up separately. A generic plan made while the table was empty might read all keys.
SELECT asked.book_id
FROM asked
CROSS JOIN LATERAL (
    SELECT 1
    FROM {table} AS named
    WHERE
        named.book_id = asked.book_id
        AND named.source = asked.source
        AND named.idempotency_key = asked.idempotency_key
    LIMIT 1
) AS found

-- fragment: key_in(table) (sqlite)
SELECT named.book_id
FROM asked
CROSS JOIN {table} AS named
    ON
        named.book_id = asked.book_id
        AND named.source = asked.source
        AND named.idempotency_key = asked.idempotency_key

-- fragment: asked_keys(list)
SELECT CAST(@item(0) AS BIGINT) AS book_id, @item(1) AS source, @item(2) AS idempotency_key
FROM @json_rows({list})

-- fragment: add_weights
ON CONFLICT (book_id, symbol_code)
DO UPDATE SET buy_e4 = weights.buy_e4 + excluded.buy_e4, sell_e4 = weights.sell_e4 + excluded.sell_e4

-- fragment: locked_books (postgres)
locked AS MATERIALIZED (
    SELECT @book_columns
    FROM books
    WHERE id = ANY ($3::BIGINT [])
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),

-- Read after the books are locked: see the function.
present AS MATERIALIZED (
    SELECT catalogue_version_now() AS version FROM (SELECT count(*) FROM locked) AS after_the_locks
)

-- fragment: recorded_orders(condition) (postgres)
moved AS (
    UPDATE books
    SET
        gold_net_e4 = (wanted.plan ->> 1)::BIGINT,
        silver_net_e4 = (wanted.plan ->> 2)::BIGINT,
        order_count = (wanted.plan ->> 3)::BIGINT,
        last_order_at_us = (wanted.plan ->> 4)::BIGINT,
        event_shift = books.event_shift - jsonb_array_length(wanted.plan -> 8),
        version = wanted.version + 1
    FROM (SELECT id, version, $2::JSONB -> id::TEXT AS plan FROM locked) AS wanted
    WHERE
        books.id @only(wanted.id)
        AND wanted.version = (wanted.plan ->> 0)::BIGINT
        AND (SELECT version FROM present) = $1
        AND {condition}
    RETURNING books.id, books.event_shift, wanted.plan
),

inserted AS (
    INSERT INTO orders (@order_columns)
    SELECT
        moved.id, (row ->> 1)::BIGINT, row ->> 2, row ->> 3, row ->> 4, row ->> 5, row ->> 6, (row ->> 7)::BIGINT,
        row ->> 8, row ->> 9, row ->> 10, (row ->> 11)::BIGINT, (row ->> 12)::BIGINT, row ->> 13, row ->> 14,
        row ->> 15, (row ->> 16)::BIGINT, ($4::TEXT [])[(row ->> 17)::INT]
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 5) AS placed (row)
    RETURNING book_id, symbol_code, trade_type, quantity_e4, metal, status
)

-- fragment: batch_answer (postgres)
-- A book that was recorded was as planned. The others are returned as they are.
(SELECT version FROM present) AS catalogue_version,
ARRAY(SELECT id FROM moved) AS recorded,
(
    SELECT
        json_agg(
            json_build_array(
                id, gold_net_e4, gold_limit_e4, silver_net_e4, silver_limit_e4, order_count, archived_count,
                last_order_at_us, version
            )
        )
    FROM locked
    WHERE NOT EXISTS (SELECT 1 FROM moved WHERE moved.id = locked.id)
) AS others

-- name: record_orders (postgres)
-- A batch of bookings in one statement, which is its own transaction: orders that are filled at once, with keys that
-- need not be looked up (see `key_lookups`).
--
-- It locks the books. It does not wait for a book that another session has locked, and does not return it. A book does
-- not change if its version moved since its orders were decided. No book changes if the catalogue moved.
--
-- $2 is what is planned for each book, by its id: version, gold, silver, count, time, orders, price moves, hedge
-- requests, ordinals of orders that the API hides. It is JSON: one value is sent faster than fifty columns. $4 are the
-- anatomies of the prices: orders share them, and have their places.
WITH @locked_books,

@recorded_orders(TRUE)

SELECT
    @batch_answer,
    '{}'::BIGINT [] AS settled,
    '{}'::BIGINT [] AS with_moves

-- name: record_plans (postgres)
-- The same for any batch. Books with refusals only are locked too: a session that records an order under such a key holds
-- that lock. A book does not change if one of the given keys is settled.
--
-- $5 are the keys to look up. $6 are the books that were ever reset: only they have archived keys, and if one was reset
-- just now, its version moved. $7 are the books of which is asked whether they have price moves.
WITH asked AS MATERIALIZED (
    @asked_keys($5)
),

settled AS MATERIALIZED (
    @key_in(orders)
    UNION ALL
    @key_in(price_moves)
    UNION ALL
    @key_in(archived_keys)
    WHERE asked.book_id = ANY ($6::BIGINT [])
),

@locked_books,

@recorded_orders(NOT EXISTS (SELECT 1 FROM settled WHERE settled.book_id = wanted.id)),

requested AS (
    INSERT INTO hedge_requests (@hedge_request_columns)
    SELECT
        moved.id, (row ->> 0)::BIGINT, row ->> 1, row ->> 2, row ->> 3, (row ->> 4)::BIGINT, $8, $9, row ->> 5,
        (row ->> 6)::BIGINT
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 7) AS to_hedge (row)
),

held AS (
    INSERT INTO open_weights AS weights (book_id, symbol_code, metal, buy_e4, sell_e4)
    SELECT
        book_id, symbol_code, metal,
        coalesce(sum(quantity_e4) FILTER (WHERE trade_type = 'buy'), 0),
        coalesce(sum(quantity_e4) FILTER (WHERE trade_type = 'sell'), 0)
    FROM inserted
    WHERE status = 'pending'
    GROUP BY 1, 2, 3
    @add_weights
),

refused AS (
    INSERT INTO price_moves (@price_move_columns)
    SELECT
        moved.id, row ->> 1, row ->> 2, row ->> 3, row ->> 4, (row ->> 5)::BIGINT, row ->> 6, row ->> 7,
        (row ->> 8)::BIGINT, (row ->> 9)::BIGINT, row ->> 10, (row ->> 11)::BIGINT
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 6) AS moves (row)
),

-- Hidden orders take no number: see `account_events`.
unnumbered AS (
    INSERT INTO account_events (book_id, number, orders_through, kind, at_us, detail)
    SELECT
        moved.id, hidden.ordinal::BIGINT + moved.event_shift + jsonb_array_length(moved.plan -> 8) - hidden.nth,
        hidden.ordinal::BIGINT, 'hidden', (moved.plan ->> 4)::BIGINT, '{}'
    FROM moved
    CROSS JOIN jsonb_array_elements_text(moved.plan -> 8) WITH ORDINALITY AS hidden (ordinal, nth)
)

SELECT
    @batch_answer,
    ARRAY(SELECT book_id FROM settled) AS settled,
    ARRAY(SELECT known.id FROM unnest($7::BIGINT []) AS known (id) WHERE @has_price_moves(known.id)) AS with_moves

-- name: batch_state (sqlite)
-- What a batch is checked against: the catalogue's version; the books with a settled key among those in $1; and the
-- books in $2. One row, because the writer's thread waits for the GIL after each row.
WITH asked AS MATERIALIZED (
    @asked_keys($1)
),

settled (book_id) AS (
    @key_in(orders)
    UNION ALL
    @key_in(price_moves)
    UNION ALL
    @key_in(archived_keys)
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

-- name: move_books (sqlite)
WITH wanted (id, gold_net_e4, silver_net_e4, order_count, last_order_at_us) AS (VALUES $rows)

UPDATE books
SET
    gold_net_e4 = wanted.gold_net_e4, silver_net_e4 = wanted.silver_net_e4, order_count = wanted.order_count,
    last_order_at_us = wanted.last_order_at_us, version = version + 1
FROM wanted
WHERE books.id = wanted.id

-- name: insert_orders (sqlite)
INSERT INTO orders (@order_columns) VALUES $rows

-- name: insert_price_moves (sqlite)
INSERT INTO price_moves (@price_move_columns) VALUES $rows

-- name: insert_hedge_requests (sqlite)
INSERT INTO hedge_requests (@hedge_request_columns) VALUES $rows

-- name: add_open_weights (sqlite)
-- Adds the orders that were just written, from an ordinal on, in each of these production books.
WITH placed (book_id, first_ordinal) AS (VALUES $rows)

INSERT INTO open_weights AS weights (book_id, symbol_code, metal, buy_e4, sell_e4)
SELECT
    orders.book_id, orders.symbol_code, orders.metal,
    sum(iif(orders.trade_type = 'buy', orders.quantity_e4, 0)),
    sum(iif(orders.trade_type = 'sell', orders.quantity_e4, 0))
FROM placed
CROSS JOIN orders ON orders.book_id = placed.book_id AND orders.ordinal >= placed.first_ordinal
GROUP BY 1, 2, 3
@add_weights
