-- A batch of bookings in one statement, which is its own transaction.
--
-- The books are locked, also those that only refusals hang on: whoever could still record an order under such a
-- key holds the lock. One that somebody else has locked is not waited for, and not among the answers. A book
-- whose version moved since its orders were decided, or which has a settled key among those asked about, is left
-- alone with all its orders; so is every book when the catalogue has moved. What was done is the answer, with
-- each book as it was before.
WITH placed AS MATERIALIZED (
    SELECT *
    FROM
        unnest(
            $12::BIGINT [], $13::BIGINT [], $14::TEXT [], $15::TEXT [], $16::TEXT [], $17::TEXT [],
            $18::TEXT [], $19::BIGINT [], $20::TEXT [], $21::TEXT [], $22::TEXT [], $23::BIGINT [],
            $24::BIGINT [], $25::TEXT [], $26::TEXT [], $27::TEXT [], $28::BIGINT [], $29::TEXT []
        ) AS orders (
            book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4,
            expected_price, client_order_id, metal, price_paise, total_paise, status, key_id, request_id,
            created_at_us, price_anatomy
        )
),

-- The keys of the orders to record, and of those that will not be.
asked AS MATERIALIZED (
    SELECT book_id, source, idempotency_key FROM placed
    UNION ALL
    SELECT book_id, source, idempotency_key
    FROM unnest($2::BIGINT [], $3::TEXT [], $4::TEXT []) AS names (book_id, source, idempotency_key)
),

settled AS MATERIALIZED (
    SELECT asked.book_id FROM asked INNER JOIN orders USING (book_id, source, idempotency_key)
    UNION ALL
    SELECT asked.book_id FROM asked INNER JOIN price_moves USING (book_id, source, idempotency_key)
),

locked AS MATERIALIZED (
    SELECT
        id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
        last_order_at_us, version
    FROM books
    WHERE id = ANY ($5::BIGINT [] || $11::BIGINT [])
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
        gold_net_e4 = wanted.gold_net_e4,
        silver_net_e4 = wanted.silver_net_e4,
        order_count = wanted.order_count,
        last_order_at_us = wanted.last_order_at_us,
        version = wanted.version + 1
    FROM
        unnest($5::BIGINT [], $6::BIGINT [], $7::BIGINT [], $8::BIGINT [], $9::BIGINT [], $10::BIGINT [])
            AS wanted (id, version, gold_net_e4, silver_net_e4, order_count, last_order_at_us)
    INNER JOIN locked ON locked.id = wanted.id AND locked.version = wanted.version
    WHERE
        books.id = wanted.id
        AND (SELECT version FROM present) = $1
        AND NOT EXISTS (SELECT 1 FROM settled WHERE settled.book_id = wanted.id)
    RETURNING books.id
),

inserted AS (
    INSERT INTO orders (
        book_id, ordinal, id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
        client_order_id, metal, price_paise, total_paise, status, key_id, request_id, created_at_us,
        price_anatomy
    )
    SELECT placed.* FROM placed INNER JOIN moved ON moved.id = placed.book_id
    RETURNING book_id, ordinal, id, source, symbol_code, trade_type, quantity_e4, metal, status
),

requested AS (
    INSERT INTO hedge_requests (
        book_id, ordinal, order_id, broker, instrument, took_stock, holder, due_at_us, venue
    )
    SELECT
        inserted.book_id,
        inserted.ordinal,
        inserted.id,
        to_hedge.broker,
        to_hedge.instrument,
        to_hedge.took_stock,
        $47,
        $48,
        $49
    FROM
        unnest($42::BIGINT [], $43::BIGINT [], $44::TEXT [], $45::TEXT [], $46::BIGINT [])
            AS to_hedge (book_id, ordinal, broker, instrument, took_stock)
    INNER JOIN inserted USING (book_id, ordinal)
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

counted AS (
    INSERT INTO order_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
    SELECT
        inserted.book_id,
        levels.level,
        inserted.ordinal / levels.size,
        inserted.symbol_code,
        inserted.trade_type,
        CASE
            WHEN inserted.status = 'pending' AND inserted.source <> 'api' THEN 'pending elsewhere'
            ELSE inserted.status
        END,
        count(*)
    FROM inserted
    CROSS JOIN (VALUES (0, 512), (1, 65536)) AS levels (level, size)
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
    DO UPDATE SET orders = counts.orders + excluded.orders
),

refused AS (
    INSERT INTO price_moves (
        book_id, source, idempotency_key, symbol_code, trade_type, quantity_e4, expected_price,
        client_order_id, price_paise, tolerance_percent_e4, request_id, at_us
    )
    SELECT moves.*
    FROM
        unnest(
            $30::BIGINT [], $31::TEXT [], $32::TEXT [], $33::TEXT [], $34::TEXT [], $35::BIGINT [],
            $36::TEXT [], $37::TEXT [], $38::BIGINT [], $39::BIGINT [], $40::TEXT [], $41::BIGINT []
        ) AS moves (book_id)
    INNER JOIN moved ON moved.id = moves.book_id
)

SELECT
    seen.*,
    (SELECT version FROM present) AS catalogue_version,
    EXISTS (SELECT 1 FROM moved WHERE moved.id = seen.id) AS recorded,
    EXISTS (SELECT 1 FROM settled WHERE settled.book_id = seen.id) AS settled
FROM locked AS seen
