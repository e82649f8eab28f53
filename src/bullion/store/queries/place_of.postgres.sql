-- The small block in which, newest first, the order stands that has $3 of some kinds before it, and how many of those
-- are in that block. $2 has the kinds, each as status, symbol and side. A block of one level, which holds $4 of
-- the next, says where to look there: it is the newest up to whose end there are more than are wanted, and those up to
-- the end of the one before it are left out. As INT, which no block outgrows: sums of BIGINT are made in slow NUMERIC.
WITH kinds AS MATERIALIZED (
    SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
    FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
),

large (block, before) AS (
    SELECT
        max(block) FILTER (WHERE so_far > CAST($3 AS BIGINT)),
        CAST($3 AS BIGINT) - coalesce(max(so_far) FILTER (WHERE so_far <= CAST($3 AS BIGINT)), 0)
    FROM (
        SELECT counts.block, sum(counts.orders) OVER (ORDER BY counts.block DESC) AS so_far
        FROM kinds
        CROSS JOIN LATERAL (
            SELECT block_counts.block, CAST(block_counts.orders AS INT) AS orders
            FROM block_counts
            WHERE
                block_counts.book_id = $1
                AND block_counts.level = 2
                AND block_counts.symbol_code = kinds.symbol_code
                AND block_counts.trade_type = kinds.trade_type
                AND block_counts.status = kinds.status
            OFFSET 0
        ) AS counts
    ) AS blocks
),

middle (block, before) AS (
    SELECT
        max(blocks.block) FILTER (WHERE blocks.so_far > blocks.wanted),
        max(blocks.wanted) - coalesce(max(blocks.so_far) FILTER (WHERE blocks.so_far <= blocks.wanted), 0)
    FROM (
        SELECT
            counts.block,
            large.before AS wanted,
            sum(counts.orders) OVER (ORDER BY counts.block DESC) AS so_far
        FROM large
        CROSS JOIN kinds
        CROSS JOIN LATERAL (
            SELECT block_counts.block, CAST(block_counts.orders AS INT) AS orders
            FROM block_counts
            WHERE
                block_counts.book_id = $1
                AND block_counts.level = 1
                AND block_counts.symbol_code = kinds.symbol_code
                AND block_counts.trade_type = kinds.trade_type
                AND block_counts.status = kinds.status
                AND block_counts.block BETWEEN large.block * CAST($4 AS BIGINT) AND large.block * CAST($4 AS BIGINT) + CAST($4 AS BIGINT) - 1
            OFFSET 0
        ) AS counts
    ) AS blocks
),

small (block, before) AS (
    SELECT
        max(blocks.block) FILTER (WHERE blocks.so_far > blocks.wanted),
        max(blocks.wanted) - coalesce(max(blocks.so_far) FILTER (WHERE blocks.so_far <= blocks.wanted), 0)
    FROM (
        SELECT
            counts.block,
            middle.before AS wanted,
            sum(counts.orders) OVER (ORDER BY counts.block DESC) AS so_far
        FROM middle
        CROSS JOIN kinds
        CROSS JOIN LATERAL (
            SELECT block_counts.block, CAST(block_counts.orders AS INT) AS orders
            FROM block_counts
            WHERE
                block_counts.book_id = $1
                AND block_counts.level = 0
                AND block_counts.symbol_code = kinds.symbol_code
                AND block_counts.trade_type = kinds.trade_type
                AND block_counts.status = kinds.status
                AND block_counts.block BETWEEN middle.block * CAST($4 AS BIGINT) AND middle.block * CAST($4 AS BIGINT) + CAST($4 AS BIGINT) - 1
            OFFSET 0
        ) AS counts
    ) AS blocks
)

SELECT block, before FROM small
