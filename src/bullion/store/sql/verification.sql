-- Recomputes derived data from the orders: see bullion.books. Each query returns only differences.
-- $1 and $2 are the first and the last book of a range, $3 is the maximum number of rows.

-- fragment: holding
('filled', 'pending', 'open', 'closing')

-- fragment: entries_that_differ
-- Compares entries with stored and recomputed values: those with the same name are added up, and have to be equal.
GROUP BY entries.book_id, entries.name
HAVING sum(entries.stored) <> sum(entries.recomputed)
ORDER BY entries.book_id, entries.name
LIMIT $3

-- fragment: compare_entries
SELECT
    entries.book_id, entries.name, CAST(sum(entries.stored) AS BIGINT) AS stored,
    CAST(sum(entries.recomputed) AS BIGINT) AS recomputed

-- name: verify_ranges
-- The first book of each range. A range has about $1 orders, or one book with more.
SELECT
    min(parts.id) AS first_book, count(*) AS books, CAST(sum(parts.order_count) AS BIGINT) AS orders
FROM (
    SELECT
        books.id, books.order_count,
        CAST(sum(books.order_count + 100) OVER (ORDER BY books.id) AS BIGINT) / CAST($1 AS BIGINT) AS part
    FROM books
) AS parts
GROUP BY parts.part
ORDER BY parts.part

-- name: verify_nets
@compare_entries
FROM (
    SELECT id AS book_id, 'gold' AS name, gold_net_e4 AS stored, 0 AS recomputed
    FROM books
    WHERE id BETWEEN $1 AND $2
    UNION ALL
    SELECT id, 'silver', silver_net_e4, 0 FROM books WHERE id BETWEEN $1 AND $2
    UNION ALL
    SELECT
        orders.book_id, orders.metal, 0,
        CASE WHEN orders.trade_type = 'buy' THEN orders.quantity_e4 ELSE -orders.quantity_e4 END
    FROM orders
    LEFT JOIN books ON books.id = orders.book_id
    WHERE
        orders.book_id BETWEEN $1 AND $2
        AND orders.status IN @holding
        AND orders.ordinal > coalesce(books.archived_count, 0)
) AS entries
@entries_that_differ

-- name: verify_open_weights
@compare_entries
FROM (
    SELECT book_id, symbol_code || ' ' || metal || ' buy' AS name, buy_e4 AS stored, 0 AS recomputed
    FROM open_weights
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT book_id, symbol_code || ' ' || metal || ' sell', sell_e4, 0
    FROM open_weights
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT book_id, symbol_code || ' ' || metal || ' ' || trade_type, 0, quantity_e4
    FROM orders
    WHERE book_id BETWEEN $1 AND $2 AND book_id % 2 = 1 AND status IN @holding
) AS entries
@entries_that_differ

-- name: verify_order_counts
-- Ordinals begin with 1 and have no gap, in the archive and among the working orders: so the number of orders and the
-- last ordinal are the book's count, and the archive ends before the first working order.
@compare_entries
FROM (
    SELECT books.id AS book_id, names.name, books.order_count AS stored, 0 AS recomputed
    FROM books
    CROSS JOIN (SELECT 'number' AS name UNION ALL SELECT 'last ordinal') AS names
    WHERE books.id BETWEEN $1 AND $2
    UNION ALL
    SELECT book_id, 'number', 0, count(*) FROM orders WHERE book_id BETWEEN $1 AND $2 GROUP BY book_id
    UNION ALL
    SELECT book_id, 'number', 0, last_ordinal - first_ordinal + 1
    FROM archived_orders
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT ends.book_id, 'last ordinal', 0, max(ends.ordinal)
    FROM (
        SELECT book_id, ordinal FROM orders WHERE book_id BETWEEN $1 AND $2
        UNION ALL
        SELECT book_id, last_ordinal FROM archived_orders WHERE book_id BETWEEN $1 AND $2
    ) AS ends
    GROUP BY ends.book_id
    UNION ALL
    SELECT book_id, 'archived', 0, last_ordinal - first_ordinal + 1
    FROM archived_orders
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT book_id, 'archived', max(last_ordinal), 0
    FROM archived_orders
    WHERE book_id BETWEEN $1 AND $2
    GROUP BY book_id
) AS entries
@entries_that_differ

-- name: verify_bounds
-- The bounds of a book have to be in order: archived, summed, counted.
SELECT
    id AS book_id, 'archived ' || archived_count AS name, 'summed before ' || unsummed_from AS stored,
    'orders ' || order_count AS recomputed
FROM books
WHERE
    id BETWEEN $1 AND $2
    AND NOT (
        archived_count BETWEEN 0 AND order_count
        AND unsummed_from > archived_count
        AND unsummed_from <= order_count + 1
        AND archived_count >= coalesce((
            SELECT max(archived.last_ordinal) FROM archived_orders AS archived WHERE archived.book_id = books.id
        ), 0)
    )
ORDER BY id
LIMIT $3

-- name: verify_block_counts
WITH small AS (
    SELECT
        orders.book_id, orders.symbol_code, orders.trade_type, @kept_as AS kept_as,
        orders.ordinal / (SELECT size FROM block_levels WHERE level = 0) AS block,
        count(*) AS number
    FROM orders
    INNER JOIN books ON books.id = orders.book_id
    WHERE
        orders.book_id BETWEEN $1 AND $2
        AND orders.ordinal > books.archived_count
        AND orders.ordinal < books.unsummed_from
    GROUP BY 1, 2, 3, 4, 5
),

blocks AS (
    SELECT
        small.book_id, levels.level, small.symbol_code, small.trade_type, small.kept_as, small.number,
        small.block * (SELECT size FROM block_levels WHERE level = 0) / levels.size AS block
    FROM small
    CROSS JOIN block_levels AS levels
)

@compare_entries
FROM (
    SELECT
        book_id,
        'level ' || level || ' block ' || block || ': ' || symbol_code || ' ' || trade_type || ' ' || status AS name,
        orders AS stored, 0 AS recomputed
    FROM block_counts
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT
        book_id, 'level ' || level || ' block ' || block || ': ' || symbol_code || ' ' || trade_type || ' ' || kept_as, 0,
        number
    FROM blocks
    UNION ALL
    SELECT book_id, 'level ' || level || ' block ' || block || ':   shown', 0, number
    FROM blocks
    WHERE kept_as NOT IN @hidden_kinds
) AS entries
@entries_that_differ

-- name: verify_keys
-- An idempotency key is settled once: by an order, by an archived order or by a moved price.
SELECT settled.book_id, settled.source || ' ' || settled.idempotency_key AS name, 2 AS stored, 1 AS recomputed
FROM (
    SELECT moves.book_id, moves.source, moves.idempotency_key
    FROM price_moves AS moves
    INNER JOIN orders
        ON
            orders.book_id = moves.book_id
            AND orders.source = moves.source
            AND orders.idempotency_key = moves.idempotency_key
    WHERE moves.book_id BETWEEN $1 AND $2
    UNION
    SELECT archived.book_id, archived.source, archived.idempotency_key
    FROM archived_keys AS archived
    INNER JOIN orders
        ON
            orders.book_id = archived.book_id
            AND orders.source = archived.source
            AND orders.idempotency_key = archived.idempotency_key
    WHERE archived.book_id BETWEEN $1 AND $2
    UNION
    SELECT archived.book_id, archived.source, archived.idempotency_key
    FROM archived_keys AS archived
    INNER JOIN price_moves AS moves
        ON
            moves.book_id = archived.book_id
            AND moves.source = archived.source
            AND moves.idempotency_key = archived.idempotency_key
    WHERE archived.book_id BETWEEN $1 AND $2
) AS settled
ORDER BY 1, 2
LIMIT $3

-- name: verify_archived_key_counts
@compare_entries
FROM (
    SELECT book_id, 'keys' AS name, count(*) AS stored, 0 AS recomputed
    FROM archived_keys
    WHERE book_id BETWEEN $1 AND $2
    GROUP BY book_id
    UNION ALL
    SELECT book_id, 'keys', 0, last_ordinal - first_ordinal + 1
    FROM archived_orders
    WHERE book_id BETWEEN $1 AND $2
) AS entries
@entries_that_differ

-- name: verify_packs
-- Packs of archived orders after the one of book $1 that begins with the ordinal $2, up to book $3.
SELECT *
FROM archived_orders
WHERE (book_id, first_ordinal) > (CAST($1 AS BIGINT), CAST($2 AS BIGINT)) AND book_id <= $3
ORDER BY book_id, first_ordinal
LIMIT $4

-- name: verify_archived_keys
-- The keys in $2, each with its ordinal and time, that the archive of book $1 does not have with these values.
SELECT
    (@item(0)) || ' ' || (@item(1)) AS name, named.ordinal AS stored, CAST(@item(2) AS BIGINT) AS recomputed
FROM @json_rows($2)
LEFT JOIN archived_keys AS named
    ON named.book_id = $1 AND named.source = (@item(0)) AND named.idempotency_key = (@item(1))
WHERE
    named.ordinal IS NULL
    OR named.ordinal <> CAST(@item(2) AS BIGINT)
    OR named.made_at_ms <> CAST(@item(3) AS BIGINT)

-- fragment: hex_digits(number, digits) (postgres)
lpad(to_hex({number}), {digits}, '0')

-- fragment: hex_digits(number, digits) (sqlite)
printf('%0{digits}x', {number})

-- name: verify_order_ids
-- An id begins with the order's time and ends with its ordinal: the order is found by that.
SELECT
    book_id, 'order ' || ordinal AS name, id AS stored,
    @hex_digits(created_at_us / 1000, 12) || '…' || @hex_digits(ordinal, 10) AS recomputed
FROM orders
WHERE
    book_id BETWEEN $1 AND $2
    AND (
        substr(id, 1, 8) || substr(id, 10, 4) <> @hex_digits(created_at_us / 1000, 12)
        OR substr(id, 27) <> @hex_digits(ordinal, 10)
    )
ORDER BY book_id, ordinal
LIMIT $3

-- name: verify_times
-- Within a book times rise with the ordinals, and the book has the last: orders are found by their time through that.
SELECT times.book_id, 'order ' || times.ordinal AS name, times.at_us AS stored, times.before_us AS recomputed
FROM (
    SELECT
        book_id, ordinal, created_at_us AS at_us,
        lag(created_at_us) OVER (PARTITION BY book_id ORDER BY ordinal) AS before_us
    FROM orders
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT books.id, books.order_count, books.last_order_at_us, max(orders.created_at_us)
    FROM books
    INNER JOIN orders ON orders.book_id = books.id
    WHERE books.id BETWEEN $1 AND $2
    GROUP BY books.id, books.order_count, books.last_order_at_us
) AS times
WHERE times.at_us < times.before_us
ORDER BY times.book_id, times.ordinal
LIMIT $3

-- name: verify_events
-- Each event raises by one what its number is beyond the orders by then; each hidden order lowers it; and the book has
-- what the last of them left.
WITH marks AS (
    SELECT book_id, number, orders_through, CASE WHEN kind = 'hidden' THEN -1 ELSE 1 END AS step
    FROM account_events
    WHERE book_id BETWEEN $1 AND $2
    UNION ALL
    SELECT changes.book_id, changes.number, changes.orders_through, 1
    FROM order_events AS changes
    LEFT JOIN (
        SELECT book_id, max(number) AS number
        FROM account_events
        WHERE kind = 'start' AND book_id BETWEEN $1 AND $2
        GROUP BY book_id
    ) AS starts ON starts.book_id = changes.book_id
    WHERE changes.book_id BETWEEN $1 AND $2 AND changes.number > coalesce(starts.number, 0)
),

steps AS (
    SELECT
        book_id, number, step, number - orders_through AS shift,
        lag(number - orders_through) OVER (PARTITION BY book_id ORDER BY number, orders_through) AS before,
        lead(number) OVER (PARTITION BY book_id ORDER BY number, orders_through) AS next_number
    FROM marks
)

SELECT book_id, name, stored, recomputed
FROM (
    SELECT book_id, 'event ' || number AS name, shift AS stored, before + step AS recomputed
    FROM steps
    UNION ALL
    SELECT books.id, 'the newest event', books.event_shift, coalesce(steps.shift, 0)
    FROM books
    LEFT JOIN steps ON steps.book_id = books.id AND steps.next_number IS NULL
    WHERE books.id BETWEEN $1 AND $2
) AS compared
WHERE stored <> recomputed
ORDER BY book_id, name
LIMIT $3

-- fragment: life_codes
-- The states that each order of these books entered after it was recorded, as one number.
SELECT
    book_id, ordinal,
    CAST(sum(
        CASE status
            WHEN 'open' THEN 1
            WHEN 'closing' THEN 2
            WHEN 'closed' THEN 4
            WHEN 'rejected' THEN 8
            WHEN 'deleted' THEN 16
            ELSE 1024
        END
    ) AS BIGINT) AS code
FROM order_events
WHERE book_id BETWEEN $1 AND $2
GROUP BY book_id, ordinal

-- name: verify_statuses
WITH lives AS (
    @life_codes
)

SELECT orders.book_id, 'order ' || orders.id AS name, orders.status AS stored,
    CASE
        WHEN coalesce(lives.code, 0) = 0 AND orders.book_id % 2 = 0 THEN 'filled'
        WHEN coalesce(lives.code, 0) = 0 THEN 'pending'
        WHEN lives.code = 1 THEN 'open'
        WHEN lives.code = 3 THEN 'closing'
        WHEN lives.code = 7 THEN 'closed'
        WHEN lives.code = 8 THEN 'rejected'
        WHEN lives.code IN (16, 17, 19) THEN 'deleted'
        ELSE 'events that do not go together'
    END AS recomputed
FROM orders
LEFT JOIN lives ON lives.book_id = orders.book_id AND lives.ordinal = orders.ordinal
WHERE
    orders.book_id BETWEEN $1 AND $2
    AND NOT
    CASE orders.status
        WHEN 'filled' THEN orders.book_id % 2 = 0 AND coalesce(lives.code, 0) = 0
        WHEN 'pending' THEN orders.book_id % 2 = 1 AND coalesce(lives.code, 0) = 0
        WHEN 'open' THEN coalesce(lives.code, 0) = 1
        WHEN 'closing' THEN coalesce(lives.code, 0) = 3
        WHEN 'closed' THEN coalesce(lives.code, 0) = 7
        WHEN 'rejected' THEN coalesce(lives.code, 0) = 8
        ELSE coalesce(lives.code, 0) IN (16, 17, 19)
    END
UNION ALL
SELECT lives.book_id, 'order ' || lives.ordinal, 'none', 'an order with events'
FROM lives
LEFT JOIN orders ON orders.book_id = lives.book_id AND orders.ordinal = lives.ordinal
WHERE orders.book_id IS NULL
ORDER BY 1, 2
LIMIT $3

-- name: verify_deals
-- Only deals have a deal number, and it was issued. Only closed orders have the values of a close.
WITH lives AS (
    @life_codes
)

SELECT
    orders.book_id, 'order ' || orders.id AS name,
    'deal number ' || coalesce(CAST(orders.deal_no AS TEXT), 'missing') || ', ' || orders.status
    || CASE WHEN orders.closed_at_us IS NULL THEN '' ELSE ' at a price' END AS stored,
    CASE WHEN coalesce(lives.code, 0) % 2 = 1 THEN 'a deal, last number ' ELSE 'no deal, last number ' END
    || coalesce(deals.last_deal_no, 0) AS recomputed
FROM orders
LEFT JOIN lives ON lives.book_id = orders.book_id AND lives.ordinal = orders.ordinal
LEFT JOIN accounts ON accounts.id = orders.book_id / 2
LEFT JOIN deals ON deals.broker = accounts.broker
WHERE
    orders.book_id BETWEEN $1 AND $2
    AND (
        (orders.deal_no IS NOT NULL) <> (coalesce(lives.code, 0) % 2 = 1)
        OR orders.deal_no < 1
        OR orders.deal_no > coalesce(deals.last_deal_no, 0)
        OR (orders.status = 'closed') <> (orders.close_price_paise IS NOT NULL)
        OR (orders.status = 'closed') <> (orders.realized_pnl_paise IS NOT NULL)
        OR (orders.status = 'closed') <> (orders.closed_at_us IS NOT NULL)
    )
ORDER BY 1, 2
LIMIT $3

-- name: verify_hedges
-- Every production order has its hedge request, and no other order has one. Its state fits the order's.
SELECT
    orders.book_id, 'order ' || orders.id AS name,
    CASE
        WHEN hedges.book_id IS NULL THEN 'no request'
        ELSE
            'request of ' || hedges.broker || ' for order ' || hedges.order_id || ' ' || hedges.state || ' '
            || coalesce(hedges.outcome, 'without an answer') || ', execution ' || coalesce(hedges.execution_id, 'none')
            || CASE WHEN hedges.took_stock = 1 THEN ', took stock' ELSE '' END
    END AS stored,
    orders.trade_type || ', ' || orders.status AS recomputed
FROM orders
LEFT JOIN hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
LEFT JOIN accounts ON accounts.id = orders.book_id / 2
WHERE
    orders.book_id BETWEEN $1 AND $2
    AND (
        (orders.book_id % 2 = 1) <> (hedges.book_id IS NOT NULL)
        OR hedges.order_id <> orders.id
        OR hedges.broker <> accounts.broker
        OR (hedges.took_stock = 1 AND orders.trade_type <> 'buy')
        OR (hedges.book_id IS NOT NULL AND (hedges.outcome IS NULL) <> (hedges.execution_id IS NULL))
        OR (
            hedges.book_id IS NOT NULL
            AND NOT
            CASE hedges.state || ' ' || coalesce(hedges.outcome, '')
                WHEN 'waiting ' THEN orders.status IN ('pending', 'deleted')
                WHEN 'withdrawn ' THEN orders.status = 'deleted'
                WHEN 'answered confirmed' THEN orders.status IN ('open', 'closing', 'closed', 'deleted')
                WHEN 'answered refused' THEN orders.status IN ('rejected', 'deleted')
                WHEN 'broken confirmed' THEN orders.status IN ('open', 'closing', 'closed', 'rejected', 'deleted')
                WHEN 'broken refused' THEN orders.status IN ('open', 'closing', 'closed')
                ELSE orders.book_id < 0
            END
        )
    )
UNION ALL
SELECT hedges.book_id, 'order ' || hedges.order_id, 'request ' || hedges.state, 'no order'
FROM hedge_requests AS hedges
LEFT JOIN orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
WHERE hedges.book_id BETWEEN $1 AND $2 AND orders.book_id IS NULL
ORDER BY 1, 2
LIMIT $3

-- name: verify_stock_held
-- The weight that the orders of these books have taken from each stock.
SELECT hedges.broker, orders.symbol_code, CAST(sum(orders.quantity_e4) AS BIGINT) AS held_e4
FROM hedge_requests AS hedges
INNER JOIN orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
WHERE
    hedges.book_id BETWEEN $1 AND $2
    AND hedges.took_stock = 1
    AND orders.trade_type = 'buy'
    AND orders.status IN @holding
GROUP BY hedges.broker, orders.symbol_code

-- name: verify_stocks
SELECT broker, symbol_code, weight_e4 FROM stocks ORDER BY broker, symbol_code

-- name: verify_accounts
-- Each account has its two books, numbered after it, with the same limits. $1 is the maximum number of rows.
SELECT
    accounts.id * 2 AS book_id,
    'books' AS name,
    coalesce('test ' || test.gold_limit_e4 || ' ' || test.silver_limit_e4, 'no test book')
    || coalesce(', production ' || live.gold_limit_e4 || ' ' || live.silver_limit_e4, ', no production book') AS stored,
    'one for each environment, with the same limits' AS recomputed
FROM accounts
LEFT JOIN books AS test ON test.id = accounts.id * 2 AND test.account_id = accounts.id AND test.environment = 'test'
LEFT JOIN books AS live
    ON live.id = accounts.id * 2 + 1 AND live.account_id = accounts.id AND live.environment = 'production'
WHERE
    test.id IS NULL
    OR live.id IS NULL
    OR test.gold_limit_e4 <> live.gold_limit_e4
    OR test.silver_limit_e4 <> live.silver_limit_e4
ORDER BY accounts.id
LIMIT $1

-- name: verify_shared_order_ids
-- $1 is the maximum number of rows.
SELECT min(book_id) AS book_id, 'order ' || id AS name, count(*) AS stored, 1 AS recomputed
FROM orders
GROUP BY id
HAVING count(*) > 1
ORDER BY id
LIMIT $1

-- name: verify_shared_deal_numbers
-- $1 is the maximum number of rows.
SELECT
    min(orders.book_id) AS book_id, accounts.broker || ' deal ' || orders.deal_no AS name, count(*) AS stored,
    1 AS recomputed
FROM orders
INNER JOIN accounts ON accounts.id = orders.book_id / 2
WHERE orders.deal_no IS NOT NULL
GROUP BY accounts.broker, orders.deal_no
HAVING count(*) > 1
ORDER BY accounts.broker, orders.deal_no
LIMIT $1

-- name: verify_book_owner
SELECT accounts.broker, accounts.login_id, books.environment
FROM books
INNER JOIN accounts ON accounts.id = books.account_id
WHERE books.id = $1
