-- The small block in which, newest first, the order stands that has $3 of some kinds before it, and how many of those
-- are in that block. $2 has the kinds, each as status, symbol and side. A block of one level, which holds $4 of
-- the next, says where to look there.
WITH kinds (status, symbol_code, trade_type) AS MATERIALIZED (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
    FROM json_each($2)
),

large (block, before) AS (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            CAST($3 AS BIGINT) AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM kinds
        CROSS JOIN kind_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 2
                AND counts.symbol_code = kinds.symbol_code
                AND counts.trade_type = kinds.trade_type
                AND counts.status = kinds.status
        GROUP BY counts.block
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
),

middle (block, before) AS (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            large.before AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM large
        CROSS JOIN kinds
        CROSS JOIN kind_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 1
                AND counts.symbol_code = kinds.symbol_code
                AND counts.trade_type = kinds.trade_type
                AND counts.status = kinds.status
                AND counts.block BETWEEN large.block * $4 AND large.block * $4 + $4 - 1
        GROUP BY counts.block, large.before
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
),

small (block, before) AS (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            middle.before AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM middle
        CROSS JOIN kinds
        CROSS JOIN kind_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 0
                AND counts.symbol_code = kinds.symbol_code
                AND counts.trade_type = kinds.trade_type
                AND counts.status = kinds.status
                AND counts.block BETWEEN middle.block * $4 AND middle.block * $4 + $4 - 1
        GROUP BY counts.block, middle.before
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
)

SELECT block, CAST(before AS BIGINT) AS before FROM small
