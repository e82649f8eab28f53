-- Counts of orders of a kind (symbol, side, status) in blocks of ordinals.

-- fragment: kept_as
-- The status that an order is counted under. Orders that the API hides are counted separately.
CASE
    WHEN source <> 'api' AND status IN ('pending', 'rejected') THEN status || ' elsewhere'
    ELSE status
END

-- fragment: hidden_kinds
('deleted', 'pending elsewhere', 'rejected elsewhere')

-- fragment: insert_counts
INSERT INTO block_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)

-- fragment: add_counts
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders

-- name: sum_blocks
-- Counts the orders of a book from ordinal $2 to $3, which fill small blocks, into blocks of every level. By small
-- block first: that leaves a few rows, and only those go into the larger blocks as well.
WITH small AS MATERIALIZED (
    SELECT
        book_id, symbol_code, trade_type, @kept_as AS kept_as,
        ordinal / (SELECT size FROM block_levels WHERE level = 0) AS block,
        count(*) AS orders
    FROM (
        -- ORDER BY: see @primary_key.
        SELECT book_id, ordinal, source, symbol_code, trade_type, status
        FROM orders
        WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3
        ORDER BY ordinal
    ) AS summed
    GROUP BY 1, 2, 3, 4, 5
),

blocks AS MATERIALIZED (
    SELECT
        small.book_id, levels.level, small.symbol_code, small.trade_type, small.kept_as, small.orders,
        small.block * (SELECT size FROM block_levels WHERE level = 0) / levels.size AS block
    FROM small
    CROSS JOIN block_levels AS levels
)

@insert_counts
SELECT book_id, level, block, symbol_code, trade_type, kept_as, CAST(sum(orders) AS BIGINT)
FROM blocks
GROUP BY 1, 2, 3, 4, 5, 6
UNION ALL
SELECT book_id, level, block, '', '', 'shown', CAST(sum(orders) AS BIGINT)
FROM blocks
WHERE kept_as NOT IN @hidden_kinds
GROUP BY 1, 2, 3
@add_counts

-- name: set_unsummed_from
UPDATE books SET unsummed_from = $2 WHERE id = $1

-- name: drop_counts
DELETE FROM block_counts WHERE book_id = $1

-- fragment: blocks_of_order
SELECT
    books.id AS book_id,
    levels.level,
    CAST($2 AS BIGINT) / levels.size AS block,
    CAST($3 AS TEXT) AS symbol_code,
    CAST($4 AS TEXT) AS trade_type,
    CAST($5 AS TEXT) AS status,
    1 AS orders
FROM books
CROSS JOIN block_levels AS levels
WHERE books.id = $1 AND books.unsummed_from > $2

-- name: count_order
-- Adds one order of a kind in the blocks of its ordinal, if they are summed.
@insert_counts
@blocks_of_order
@add_counts

-- fragment: counts_of(kinds)
counts.book_id @only({kinds}.book_id)
AND counts.level = {kinds}.level
AND counts.block = {kinds}.block
AND counts.symbol_code = {kinds}.symbol_code
AND counts.trade_type = {kinds}.trade_type
AND counts.status = {kinds}.status

-- name: uncount_order
-- Removes one order of a kind.
WITH kinds AS MATERIALIZED (
    @blocks_of_order
)

UPDATE block_counts AS counts
SET orders = counts.orders - 1
FROM kinds
WHERE @counts_of(kinds)
