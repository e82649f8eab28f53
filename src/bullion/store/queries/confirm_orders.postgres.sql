-- What the venue confirmed becomes deals, many orders in one statement, which is its own transaction. The same as
-- `order_changes` does one by one. A book that somebody else holds is not waited for; its orders, and those that
-- are no longer pending, are not among the answers.
--
-- A plan made on an empty table might begin with all orders, requests or counts that there are; so rows are named in
-- ways that only their keys answer. Orders by their place in the table: one that was changed meanwhile, and has
-- moved, is pending no more. Requests and counts, which may change meanwhile and are still meant, by their keys, with
-- the book as a list of one: no plan can begin from the other side of that.
--
-- $1 are the confirmations as JSON: one value is handed over far quicker than four lists. $2 are their books.
WITH wanted AS MATERIALIZED (
    SELECT
        (row ->> 0)::BIGINT AS book_id,
        (row ->> 1)::BIGINT AS ordinal,
        row ->> 2 AS broker,
        row ->> 3 AS execution_id
    FROM jsonb_array_elements($1::JSONB) AS confirmed (row)
),

held AS MATERIALIZED (
    SELECT id, unsummed_from FROM books WHERE id = ANY ($2::BIGINT []) ORDER BY id FOR UPDATE SKIP LOCKED
),

-- A book whose counts were summed since this statement began is left alone as well: it would not see those counts.
locked AS MATERIALIZED (
    SELECT held.id, held.unsummed_from
    FROM held
    INNER JOIN books AS seen ON seen.id = ANY (ARRAY[held.id]) AND seen.unsummed_from = held.unsummed_from
),

-- Only once the books are ours, as everybody else takes it. Gaps are allowed.
numbers AS (
    INSERT INTO deals AS deals (broker, last_deal_no)
    SELECT wanted.broker, count(*)
    FROM wanted
    INNER JOIN locked ON locked.id = wanted.book_id
    GROUP BY wanted.broker
    ORDER BY wanted.broker
    ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + excluded.last_deal_no
    RETURNING broker, last_deal_no
),

dealt AS MATERIALIZED (
    SELECT
        wanted.*,
        (
            SELECT orders.ctid
            FROM orders
            WHERE orders.book_id = wanted.book_id AND orders.ordinal BETWEEN wanted.ordinal AND wanted.ordinal
            ORDER BY orders.ordinal
            LIMIT 1
        ) AS place,
        numbers.last_deal_no
        - count(*) OVER (PARTITION BY wanted.broker)
        + row_number() OVER (PARTITION BY wanted.broker ORDER BY wanted.book_id, wanted.ordinal) AS deal_no
    FROM wanted
    INNER JOIN locked ON locked.id = wanted.book_id
    INNER JOIN numbers ON numbers.broker = wanted.broker
),

booked AS (
    UPDATE orders
    SET status = 'open', deal_no = dealt.deal_no
    FROM dealt
    WHERE orders.ctid = dealt.place AND orders.status = 'pending'
    RETURNING orders.*, dealt.execution_id
),

lived AS (
    INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words)
    SELECT book_id, ordinal, status, $3, $4, 'execution ' || execution_id FROM booked
),

answered AS (
    UPDATE hedge_requests
    SET
        state = 'answered',
        outcome = 'confirmed',
        execution_id = booked.execution_id,
        words = 'execution ' || booked.execution_id,
        answered_at_us = $3
    FROM booked
    WHERE
        hedge_requests.book_id = ANY (ARRAY[booked.book_id])
        AND hedge_requests.ordinal = booked.ordinal
),

-- Of orders whose block is summed: of most it is not yet.
counted_before AS MATERIALIZED (
    SELECT booked.*
    FROM booked
    INNER JOIN locked ON locked.id = booked.book_id
    WHERE booked.ordinal < locked.unsummed_from
),

kinds AS MATERIALIZED (
    SELECT
        kinds.book_id,
        levels.level,
        kinds.ordinal / levels.size AS block,
        kinds.symbol_code,
        kinds.trade_type,
        kinds.status,
        sum(kinds.change) AS change
    FROM (
        SELECT
            book_id,
            ordinal,
            symbol_code,
            trade_type,
            CASE WHEN source = 'api' THEN 'pending' ELSE 'pending elsewhere' END AS status,
            -1 AS change
        FROM counted_before
        UNION ALL
        SELECT book_id, ordinal, symbol_code, trade_type, status, 1 FROM counted_before
        UNION ALL
        SELECT book_id, ordinal, '', '', 'shown', 1 FROM counted_before WHERE source <> 'api'
    ) AS kinds
    CROSS JOIN block_levels AS levels
    GROUP BY 1, 2, 3, 4, 5, 6
),

uncounted AS (
    UPDATE block_counts AS counts
    SET orders = counts.orders + kinds.change
    FROM kinds
    WHERE
        kinds.change < 0
        AND counts.book_id = ANY (ARRAY[kinds.book_id])
        AND counts.level = kinds.level
        AND counts.block = kinds.block
        AND counts.symbol_code = kinds.symbol_code
        AND counts.trade_type = kinds.trade_type
        AND counts.status = kinds.status
),

counted AS (
    INSERT INTO block_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
    SELECT book_id, level, block, symbol_code, trade_type, status, change
    FROM kinds
    WHERE change > 0
    ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
    DO UPDATE SET orders = counts.orders + excluded.orders
)

SELECT book_id, ordinal, deal_no FROM booked
