-- The small block in which, newest first, the order stands that has $3 of some kinds before it, and how many of those
-- are in that block. $2 has the kinds, each as status, symbol and side. A block of one level, which holds $4 of
-- the next, says where to look there. As INT, which no block outgrows: sums of BIGINT are made in slow NUMERIC.
WITH kinds AS MATERIALIZED (
    SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
    FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
),

large (block, before) AS (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            CAST($3 AS BIGINT) AS wanted,
            sum(counts.orders) AS orders,
            sum(CAST(sum(counts.orders) AS INT)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM kinds
        CROSS JOIN LATERAL (
            SELECT kind_counts.block, CAST(kind_counts.orders AS INT) AS orders
            FROM kind_counts
            WHERE
                kind_counts.book_id = $1
                AND kind_counts.level = 2
                AND kind_counts.symbol_code = kinds.symbol_code
                AND kind_counts.trade_type = kinds.trade_type
                AND kind_counts.status = kinds.status
            OFFSET 0
        ) AS counts
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
            sum(CAST(sum(counts.orders) AS INT)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM large
        CROSS JOIN kinds
        CROSS JOIN LATERAL (
            SELECT kind_counts.block, CAST(kind_counts.orders AS INT) AS orders
            FROM kind_counts
            WHERE
                kind_counts.book_id = $1
                AND kind_counts.level = 1
                AND kind_counts.symbol_code = kinds.symbol_code
                AND kind_counts.trade_type = kinds.trade_type
                AND kind_counts.status = kinds.status
                AND kind_counts.block BETWEEN large.block * CAST($4 AS BIGINT) AND large.block * CAST($4 AS BIGINT) + CAST($4 AS BIGINT) - 1
            OFFSET 0
        ) AS counts
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
            sum(CAST(sum(counts.orders) AS INT)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM middle
        CROSS JOIN kinds
        CROSS JOIN LATERAL (
            SELECT kind_counts.block, CAST(kind_counts.orders AS INT) AS orders
            FROM kind_counts
            WHERE
                kind_counts.book_id = $1
                AND kind_counts.level = 0
                AND kind_counts.symbol_code = kinds.symbol_code
                AND kind_counts.trade_type = kinds.trade_type
                AND kind_counts.status = kinds.status
                AND kind_counts.block BETWEEN middle.block * CAST($4 AS BIGINT) AND middle.block * CAST($4 AS BIGINT) + CAST($4 AS BIGINT) - 1
            OFFSET 0
        ) AS counts
        GROUP BY counts.block, middle.before
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
)

SELECT block, CAST(before AS BIGINT) AS before FROM small
