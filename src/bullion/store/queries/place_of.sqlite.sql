-- The small block in which, newest first, the order stands that has $3 of some kinds before it, and how many of those
-- are in that block. $2 has the kinds, each as status, symbol and side. A block of one level, which holds $4 of the next,
-- says where to look there: as a value, and the kinds as they come. Where there are statistics, SQLite reckons with many
-- rows of any other table, and reads all counts there are to make a filter of them first.
WITH large (block, before) AS MATERIALIZED (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            CAST($3 AS BIGINT) AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM json_each($2) AS kinds
        CROSS JOIN block_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 2
                AND counts.symbol_code = json_extract(kinds.value, '$[1]')
                AND counts.trade_type = json_extract(kinds.value, '$[2]')
                AND counts.status = json_extract(kinds.value, '$[0]')
        GROUP BY counts.block
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
),

middle (block, before) AS MATERIALIZED (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            (SELECT before FROM large) AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM json_each($2) AS kinds
        CROSS JOIN block_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 1
                AND counts.symbol_code = json_extract(kinds.value, '$[1]')
                AND counts.trade_type = json_extract(kinds.value, '$[2]')
                AND counts.status = json_extract(kinds.value, '$[0]')
                AND counts.block BETWEEN (SELECT block FROM large) * $4 AND (SELECT block FROM large) * $4 + $4 - 1
        GROUP BY counts.block
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
),

small (block, before) AS MATERIALIZED (
    SELECT block, wanted - newer
    FROM (
        SELECT
            counts.block,
            (SELECT before FROM middle) AS wanted,
            sum(counts.orders) AS orders,
            sum(sum(counts.orders)) OVER (ORDER BY counts.block DESC) - sum(counts.orders) AS newer
        FROM json_each($2) AS kinds
        CROSS JOIN block_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = 0
                AND counts.symbol_code = json_extract(kinds.value, '$[1]')
                AND counts.trade_type = json_extract(kinds.value, '$[2]')
                AND counts.status = json_extract(kinds.value, '$[0]')
                AND counts.block BETWEEN (SELECT block FROM middle) * $4 AND (SELECT block FROM middle) * $4 + $4 - 1
        GROUP BY counts.block
    ) AS blocks
    WHERE wanted >= newer AND wanted < newer + orders
)

SELECT block, CAST(before AS BIGINT) AS before FROM small
