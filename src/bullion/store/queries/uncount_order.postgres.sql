-- One order fewer of a kind in the blocks of an ordinal, if they are summed. As in `confirm_orders`, the counts are named
-- in a way that only their key answers.
WITH kinds AS MATERIALIZED (
    SELECT
        books.id AS book_id,
        levels.level,
        CAST($2 AS BIGINT) / levels.size AS block,
        CAST($3 AS TEXT) AS symbol_code,
        CAST($4 AS TEXT) AS trade_type,
        CAST($5 AS TEXT) AS status
    FROM books
    CROSS JOIN block_levels AS levels
    WHERE books.id = $1 AND books.unsummed_from > $2
)

UPDATE block_counts AS counts
SET orders = counts.orders - 1
FROM kinds
WHERE
    counts.book_id = ANY (ARRAY[kinds.book_id])
    AND counts.level = kinds.level
    AND counts.block = kinds.block
    AND counts.symbol_code = kinds.symbol_code
    AND counts.trade_type = kinds.trade_type
    AND counts.status = kinds.status
