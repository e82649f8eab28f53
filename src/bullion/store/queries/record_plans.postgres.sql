-- A batch of bookings in one statement, which is its own transaction.
--
-- The books are locked in the order of their ids (without that, two batches could wait for each other). A book
-- whose version moved since its orders were decided, or which has a settled key among those asked about, is left
-- alone with all its orders; so is every book when the catalogue has moved. What was done is the answer, with
-- each book as it was before.
WITH asked AS MATERIALIZED (
    SELECT book_id, source, idempotency_key
    FROM unnest($2::BIGINT [], $3::TEXT [], $4::TEXT []) AS names (book_id, source, idempotency_key)
),

settled AS MATERIALIZED (
    SELECT asked.book_id FROM asked INNER JOIN orders USING (book_id, source, idempotency_key)
    UNION ALL
    SELECT asked.book_id FROM asked INNER JOIN price_moves USING (book_id, source, idempotency_key)
),

present AS MATERIALIZED (
    SELECT version FROM catalogue WHERE one = 1
),

locked AS MATERIALIZED (
    SELECT
        id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
        last_order_at_us, version
    FROM books
    WHERE id = ANY ($5::BIGINT [])
    ORDER BY id
    FOR UPDATE
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
    SELECT placed.*
    FROM
        unnest(
            $12::BIGINT [], $13::BIGINT [], $14::TEXT [], $15::TEXT [], $16::TEXT [], $17::TEXT [],
            $18::TEXT [], $19::BIGINT [], $20::TEXT [], $21::TEXT [], $22::TEXT [], $23::BIGINT [],
            $24::BIGINT [], $25::TEXT [], $26::TEXT [], $27::TEXT [], $28::BIGINT [], $29::TEXT []
        ) AS placed (book_id)
    INNER JOIN moved ON moved.id = placed.book_id
),

counted AS (
    INSERT INTO order_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
    SELECT more.*
    FROM
        unnest(
            $30::BIGINT [], $31::BIGINT [], $32::BIGINT [], $33::TEXT [], $34::TEXT [], $35::TEXT [],
            $36::BIGINT []
        ) AS more (book_id)
    INNER JOIN moved ON moved.id = more.book_id
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
            $37::BIGINT [], $38::TEXT [], $39::TEXT [], $40::TEXT [], $41::TEXT [], $42::BIGINT [],
            $43::TEXT [], $44::TEXT [], $45::BIGINT [], $46::BIGINT [], $47::TEXT [], $48::BIGINT []
        ) AS moves (book_id)
    INNER JOIN moved ON moved.id = moves.book_id
)

SELECT
    seen.*,
    (SELECT version FROM present) AS catalogue_version,
    EXISTS (SELECT 1 FROM moved WHERE moved.id = seen.id) AS recorded,
    EXISTS (SELECT 1 FROM settled WHERE settled.book_id = seen.id) AS settled
FROM (
    SELECT * FROM locked
    UNION ALL
    SELECT
        id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
        last_order_at_us, version
    FROM books
    WHERE id = ANY ($11::BIGINT [])
) AS seen
