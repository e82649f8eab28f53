-- A batch of bookings in one statement, which is its own transaction.
--
-- The books are locked, also those that only refusals hang on: whoever could still record an order under such a
-- key holds the lock. One that somebody else has locked is not waited for, and not among the answers. A book
-- whose version moved since its orders were decided, or which has a settled key among those asked about, is left
-- alone with all its orders; so is every book when the catalogue has moved. What was done is the answer, with
-- each book as it was before.
--
-- $2 are the keys, $3 what is planned for each book that changes, by its number: version, gold, silver, count,
-- time, orders, price moves, and what is to be hedged. As JSON: one value is handed over quicker than fifty
-- columns, and each book's part of it is found without a search. $8 are the books that were ever reset: others
-- have nothing in the archive, and if one was reset just now, its version tells.
WITH asked AS MATERIALIZED (
    SELECT (row ->> 0)::BIGINT AS book_id, row ->> 1 AS source, row ->> 2 AS idempotency_key
    FROM jsonb_array_elements($2) AS names (row)
),

-- LIMIT: each key is looked up by itself, whatever a plan made on an empty table thinks is quicker.
settled AS MATERIALIZED (
    SELECT asked.book_id
    FROM asked
    CROSS JOIN LATERAL (
        SELECT 1
        FROM orders
        WHERE
            orders.book_id = asked.book_id
            AND orders.source = asked.source
            AND orders.idempotency_key = asked.idempotency_key
        LIMIT 1
    ) AS found
    UNION ALL
    SELECT asked.book_id
    FROM asked
    CROSS JOIN LATERAL (
        SELECT 1
        FROM price_moves
        WHERE
            price_moves.book_id = asked.book_id
            AND price_moves.source = asked.source
            AND price_moves.idempotency_key = asked.idempotency_key
        LIMIT 1
    ) AS found
    UNION ALL
    SELECT asked.book_id
    FROM asked
    CROSS JOIN LATERAL (
        SELECT 1
        FROM archived_keys
        WHERE
            archived_keys.book_id = asked.book_id
            AND archived_keys.source = asked.source
            AND archived_keys.idempotency_key = asked.idempotency_key
        LIMIT 1
    ) AS found
    WHERE asked.book_id = ANY ($8::BIGINT [])
),

locked AS MATERIALIZED (
    SELECT
        id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
        last_order_at_us, version
    FROM books
    WHERE id = ANY ($4::BIGINT [])
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),

-- Once the books are ours: see the function.
present AS MATERIALIZED (
    SELECT catalogue_version_now() AS version FROM (SELECT count(*) FROM locked) AS after_the_locks
),

moved AS (
    UPDATE books
    SET
        gold_net_e4 = (wanted.plan ->> 1)::BIGINT,
        silver_net_e4 = (wanted.plan ->> 2)::BIGINT,
        order_count = (wanted.plan ->> 3)::BIGINT,
        last_order_at_us = (wanted.plan ->> 4)::BIGINT,
        version = wanted.version + 1
    FROM (SELECT id, version, $3::JSONB -> id::TEXT AS plan FROM locked) AS wanted
    WHERE
        -- A list of one: no plan can begin from the other side of that, with all books.
        books.id = ANY (ARRAY[wanted.id])
        AND wanted.version = (wanted.plan ->> 0)::BIGINT
        AND (SELECT version FROM present) = $1
        AND NOT EXISTS (SELECT 1 FROM settled WHERE settled.book_id = wanted.id)
    RETURNING books.id, wanted.plan
),

inserted AS (
    INSERT INTO orders (
        book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
        client_order_id, metal, price_paise, total_paise, status, key_id, request_id, created_at_us,
        price_anatomy
    )
    SELECT
        moved.id,
        (row ->> 1)::BIGINT,
        row ->> 2,
        row ->> 3,
        row ->> 4,
        row ->> 5,
        row ->> 6,
        (row ->> 7)::BIGINT,
        row ->> 8,
        row ->> 9,
        row ->> 10,
        (row ->> 11)::BIGINT,
        (row ->> 12)::BIGINT,
        row ->> 13,
        row ->> 14,
        row ->> 15,
        (row ->> 16)::BIGINT,
        row ->> 17
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 5) AS placed (row)
    RETURNING book_id, symbol_code, trade_type, quantity_e4, metal, status
),

requested AS (
    INSERT INTO hedge_requests (
        book_id, ordinal, order_id, broker, instrument, took_stock, holder, due_at_us, venue
    )
    SELECT
        moved.id,
        (row ->> 0)::BIGINT,
        row ->> 1,
        row ->> 2,
        row ->> 3,
        (row ->> 4)::BIGINT,
        $5,
        $6,
        $7
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 7) AS to_hedge (row)
),

held AS (
    INSERT INTO open_weights AS weights (book_id, symbol_code, metal, buy_e4, sell_e4)
    SELECT
        book_id,
        symbol_code,
        metal,
        coalesce(sum(quantity_e4) FILTER (WHERE trade_type = 'buy'), 0),
        coalesce(sum(quantity_e4) FILTER (WHERE trade_type = 'sell'), 0)
    FROM inserted
    WHERE status = 'pending'
    GROUP BY 1, 2, 3
    ON CONFLICT (book_id, symbol_code)
    DO UPDATE SET buy_e4 = weights.buy_e4 + excluded.buy_e4, sell_e4 = weights.sell_e4 + excluded.sell_e4
),

refused AS (
    INSERT INTO price_moves (
        book_id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
        client_order_id, price_paise, tolerance_percent_e4, request_id, at_us
    )
    SELECT
        moved.id,
        row ->> 1,
        row ->> 2,
        row ->> 3,
        row ->> 4,
        (row ->> 5)::BIGINT,
        row ->> 6,
        row ->> 7,
        (row ->> 8)::BIGINT,
        (row ->> 9)::BIGINT,
        row ->> 10,
        (row ->> 11)::BIGINT
    FROM moved
    CROSS JOIN jsonb_array_elements(moved.plan -> 6) AS moves (row)
)

SELECT
    seen.*,
    (SELECT version FROM present) AS catalogue_version,
    EXISTS (SELECT 1 FROM moved WHERE moved.id = seen.id) AS recorded,
    EXISTS (SELECT 1 FROM settled WHERE settled.book_id = seen.id) AS settled
FROM locked AS seen
