-- A client's lists of orders. Plans here are generic: planning such a query for each call takes as long as running it.
-- So their text has to lead every plan to the right index, also one that PostgreSQL made while the table was empty.
--
-- $1 is the book. Where they filter, $2, $3 and $4 are the wanted symbol, side and status: null for any, and as a status
-- `all` for what the API shows by default.

-- fragment: shown
(source = 'api' OR status NOT IN ('pending', 'rejected'))

-- fragment: matches_filter
(CAST($2 AS TEXT) IS NULL OR symbol_code = $2)
AND (CAST($3 AS TEXT) IS NULL OR trade_type = $3)
AND (CAST($4 AS TEXT) IS NULL OR ((status = $4 OR ($4 = 'all' AND status <> 'deleted')) AND @shown))

-- fragment: in_kind_index (postgres)
-- The condition of the partial index `orders_by_kind`, true for every order: only queries that repeat it use the index.
metal <> ''

-- fragment: in_kind_index (sqlite)
book_id > 0

-- fragment: with_reference
FROM orders
WHERE book_id = $1 AND client_order_id = $5 AND ordinal BETWEEN $6 AND $7 AND @matches_filter

-- name: count_orders_with_reference
SELECT count(*) AS total @with_reference

-- name: ordinals_with_reference
SELECT ordinal @with_reference
ORDER BY ordinal DESC LIMIT $8 OFFSET $9

-- name: orders_with_reference
SELECT * @with_reference
ORDER BY ordinal DESC LIMIT $8 OFFSET $9

-- fragment: orders_in_range
-- By ordinal: for a short range, or one in which almost all orders match.
FROM orders
WHERE book_id = $1 AND ordinal BETWEEN $5 AND $6 AND @matches_filter
ORDER BY ordinal DESC LIMIT $7 OFFSET $8

-- name: ordinals_between
SELECT ordinal @orders_in_range

-- name: orders_between
SELECT * @orders_in_range

-- fragment: kinds_page (postgres)
-- At most one page of orders of each kind in $2 (status, symbol, side). OFFSET 0: comparing with plain values makes the
-- index of kinds the cheapest plan, also on an empty table.
SELECT found.ordinal
FROM (
    SELECT @item(0) AS status, @item(1) AS symbol_code, @item(2) AS trade_type FROM @json_rows($2) OFFSET 0
) AS kinds
CROSS JOIN LATERAL (
    SELECT ordinal
    FROM orders
    WHERE
        book_id = $1
        AND status = kinds.status
        AND symbol_code = kinds.symbol_code
        AND trade_type = kinds.trade_type
        AND ordinal BETWEEN $3 AND $4
        AND @shown
        AND @in_kind_index
    ORDER BY ordinal DESC
    LIMIT CAST($5 AS BIGINT) + CAST($6 AS BIGINT)
) AS found
ORDER BY found.ordinal DESC
LIMIT $5 OFFSET $6

-- fragment: kinds_page (sqlite)
SELECT found.ordinal
FROM @json_rows($2)
CROSS JOIN orders AS found
    ON found.rowid IN (
        SELECT orders.rowid
        FROM orders
        WHERE
            book_id = $1
            AND status = @item(0)
            AND symbol_code = @item(1)
            AND trade_type = @item(2)
            AND ordinal BETWEEN $3 AND $4
            AND @shown
            AND @in_kind_index
        ORDER BY ordinal DESC
        LIMIT $5 + $6
    )
ORDER BY found.ordinal DESC
LIMIT $5 OFFSET $6

-- name: ordinals_of_kinds
@kinds_page

-- name: orders_of_kinds (postgres)
SELECT found.*
FROM (@kinds_page) AS page
CROSS JOIN LATERAL (SELECT * FROM orders @primary_key($1, page.ordinal)) AS found
ORDER BY found.ordinal DESC

-- name: orders_of_kinds (sqlite)
SELECT orders.*
FROM (@kinds_page) AS page
CROSS JOIN orders ON orders.book_id = $1 AND orders.ordinal = page.ordinal
ORDER BY page.ordinal DESC

-- fragment: newest_orders
-- Orders after the last block that is summed. ORDER BY: see @primary_key.
(
    SELECT source, status, symbol_code, trade_type
    FROM orders
    WHERE book_id = $1 AND ordinal >= $5
    ORDER BY ordinal
) AS newest

-- fragment: kinds_of_book
SELECT
    status,
    symbol_code,
    trade_type,
    CAST(sum(summed) AS BIGINT) AS summed,
    CAST(sum(unsummed) AS BIGINT) AS unsummed
FROM (
    SELECT status, symbol_code, trade_type, orders AS summed, 0 AS unsummed
    FROM block_counts
    WHERE book_id = $1 AND level = 3 AND symbol_code <> ''
    UNION ALL
    SELECT @kept_as, symbol_code, trade_type, 0, 1
    FROM @newest_orders
) AS kinds
WHERE
    (CAST($2 AS TEXT) IS NULL OR symbol_code = $2)
    AND (CAST($3 AS TEXT) IS NULL OR trade_type = $3)
    AND (CAST($4 AS TEXT) IS NULL OR status = $4 OR ($4 = 'all' AND status NOT IN @hidden_kinds))
GROUP BY status, symbol_code, trade_type
HAVING sum(summed + unsummed) > 0

-- name: order_kinds
-- Which kinds of orders a book has, and how many of each: in blocks that are summed, and from ordinal $5 on, where
-- they are not.
@kinds_of_book

-- fragment: level_sum(kind, level, first, last)
-- One query per level, so that each uses the full key, also in a plan made while the table was empty.
coalesce((
    SELECT sum(counts.orders)
    FROM block_counts AS counts
    WHERE
        counts.book_id = $1
        AND counts.level = {level}
        AND counts.symbol_code = {kind}.symbol_code
        AND counts.trade_type = {kind}.trade_type
        AND counts.status = {kind}.status
        AND counts.block BETWEEN {first} AND {last}
), 0)

-- fragment: full_blocks(kind)
-- The blocks after the small one that contains a time: small, middle and large ones.
CAST(
    @level_sum({kind}, 0, $6, $7) + @level_sum({kind}, 1, $8, $9) + @level_sum({kind}, 2, $10, $11)
    AS BIGINT
)

-- name: order_kinds_since
-- As `order_kinds`, but only what is from ordinal $12 on. Its small block ends at $13, and its orders are counted one
-- by one. After it come full blocks, from a first to a last on each level: $6 to $11.
WITH kinds AS MATERIALIZED (
    @kinds_of_book
)

SELECT
    kinds.status,
    kinds.symbol_code,
    kinds.trade_type,
    kinds.unsummed,
    CASE
        WHEN kinds.summed = 0 THEN 0
        ELSE
            @full_blocks(kinds)
            + (
                SELECT count(*)
                FROM (
                    SELECT ordinal
                    FROM orders
                    WHERE
                        book_id = $1
                        AND status = kinds.status
                        AND symbol_code = kinds.symbol_code
                        AND trade_type = kinds.trade_type
                        AND ordinal BETWEEN $12 AND $13
                        AND @shown
                        AND @in_kind_index
                    ORDER BY ordinal
                ) AS newer
            )
    END AS summed
FROM kinds

-- fragment: shown_of_book
SELECT
    '' AS symbol_code,
    '' AS trade_type,
    'shown' AS status,
    coalesce((
        SELECT orders FROM block_counts
        WHERE book_id = $1 AND level = 3 AND symbol_code = '' AND trade_type = '' AND status = 'shown' AND block = 0
    ), 0) AS summed,
    (SELECT count(*) FROM @newest_orders WHERE @matches_filter) AS unsummed

-- name: shown_orders
-- How many orders the API shows by default: as `order_kinds`, but all kinds together.
@shown_of_book

-- name: shown_orders_since
-- As `order_kinds_since`, but all kinds together.
SELECT
    shown.unsummed,
    CASE
        WHEN shown.summed = 0 THEN 0
        ELSE
            @full_blocks(shown)
            + (
                SELECT count(*)
                FROM (
                    SELECT source, status, symbol_code, trade_type
                    FROM orders
                    WHERE book_id = $1 AND ordinal BETWEEN $12 AND $13
                    ORDER BY ordinal
                ) AS newer
                WHERE @matches_filter
            )
    END AS summed
FROM (
    @shown_of_book
) AS shown

-- fragment: level_block(level, larger, size) (postgres)
-- The block, within a larger block that holds {size} of them, that has the order with so many orders before it, newest
-- first; and how many of those are in that block. INT, which is large enough for a block: PostgreSQL sums BIGINT in
-- NUMERIC, which is slow. OFFSET 0: each kind is looked up separately, also in a plan made on an empty table.
SELECT
    max(blocks.block) FILTER (WHERE blocks.so_far > blocks.wanted),
    max(blocks.wanted) - coalesce(max(blocks.so_far) FILTER (WHERE blocks.so_far <= blocks.wanted), 0)
FROM (
    SELECT
        counts.block,
        {larger}.before AS wanted,
        sum(counts.orders) OVER (ORDER BY counts.block DESC) AS so_far
    FROM {larger}
    CROSS JOIN kinds
    CROSS JOIN LATERAL (
        SELECT block_counts.block, CAST(block_counts.orders AS INT) AS orders
        FROM block_counts
        WHERE
            block_counts.book_id = $1
            AND block_counts.level = {level}
            AND block_counts.symbol_code = kinds.symbol_code
            AND block_counts.trade_type = kinds.trade_type
            AND block_counts.status = kinds.status
            AND block_counts.block BETWEEN {larger}.block * {size} AND {larger}.block * {size} + {size} - 1
        OFFSET 0
    ) AS counts
) AS blocks

-- fragment: level_block(level, larger, size) (sqlite)
-- The larger block is compared as a value: where there are statistics, SQLite would read all counts to make a filter.
SELECT block, wanted - newer
FROM (
    SELECT
        counts.block,
        (SELECT before FROM {larger}) AS wanted,
        sum(counts.orders) AS orders,
        sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
    FROM @json_rows($5)
    CROSS JOIN block_counts AS counts
        ON
            counts.book_id = $1
            AND counts.level = {level}
            AND counts.symbol_code = @item(1)
            AND counts.trade_type = @item(2)
            AND counts.status = @item(0)
            AND counts.block BETWEEN (SELECT block FROM {larger}) * {size}
            AND (SELECT block FROM {larger}) * {size} + {size} - 1
    GROUP BY counts.block
) AS blocks
WHERE wanted >= newer AND wanted < newer + orders

-- fragment: page_start
-- The small block that holds the first order of the page, newest first: $6 orders of the kinds in $5 come before it. And
-- how many of those are in that block. A block of one level holds $7 of the next.
WITH kinds AS MATERIALIZED (
    SELECT @item(0) AS status, @item(1) AS symbol_code, @item(2) AS trade_type FROM @json_rows($5)
),

everything (block, before) AS MATERIALIZED (
    SELECT CAST(0 AS BIGINT), CAST($6 AS BIGINT)
),

large (block, before) AS MATERIALIZED (
    @level_block(2, everything, 4611686018427387904)
),

middle (block, before) AS MATERIALIZED (
    @level_block(1, large, CAST($7 AS BIGINT))
),

page_start (block, before) AS MATERIALIZED (
    @level_block(0, middle, CAST($7 AS BIGINT))
)

-- fragment: from_page_start
FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN (SELECT block - 1 FROM page_start) * $8 AND (SELECT block + 1 FROM page_start) * $8 - 1
    AND ordinal >= $9
    AND @matches_filter
ORDER BY ordinal DESC
LIMIT $10 OFFSET (SELECT before FROM page_start)

-- name: ordinals_from_page_start
-- The part of the page that is in the block of its first order or in the next older block. With the number of the first
-- block. A small block holds $8 ordinals.
@page_start
SELECT ordinal, (SELECT block FROM page_start) AS block @from_page_start

-- name: orders_from_page_start
@page_start
SELECT orders.*, (SELECT block FROM page_start) AS block @from_page_start
