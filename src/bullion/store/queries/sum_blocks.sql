-- Counts the orders from ordinal $2 to $3 of a book, with which small blocks are full, into blocks of every level.
-- First by small block alone: of many orders that leaves a few rows, and only those go into the larger blocks as well.
WITH small AS MATERIALIZED (
    SELECT
        book_id,
        ordinal / (SELECT size FROM block_levels WHERE level = 0) AS block,
        symbol_code,
        trade_type,
        CASE
            WHEN source <> 'api' AND status IN ('pending', 'rejected') THEN status || ' elsewhere'
            ELSE status
        END AS kept_as,
        count(*) AS orders
    FROM (
        SELECT book_id, ordinal, source, symbol_code, trade_type, status
        FROM orders
        WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3
        ORDER BY ordinal
    ) AS summed
    GROUP BY 1, 2, 3, 4, 5
),

blocks AS MATERIALIZED (
    SELECT
        small.book_id,
        levels.level,
        small.block * (SELECT size FROM block_levels WHERE level = 0) / levels.size AS block,
        small.symbol_code,
        small.trade_type,
        small.kept_as,
        small.orders
    FROM small
    CROSS JOIN block_levels AS levels
)

INSERT INTO block_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT book_id, level, block, symbol_code, trade_type, kept_as, CAST(sum(orders) AS BIGINT)
FROM blocks
GROUP BY 1, 2, 3, 4, 5, 6
UNION ALL
SELECT book_id, level, block, '', '', 'shown', CAST(sum(orders) AS BIGINT)
FROM blocks
WHERE kept_as NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere')
GROUP BY 1, 2, 3
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
