-- One order more of a kind in the blocks of an ordinal, if they are summed.
INSERT INTO block_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT books.id, levels.level, CAST($2 AS BIGINT) / levels.size, $3, $4, $5, 1
FROM books
CROSS JOIN block_levels AS levels
WHERE books.id = $1 AND books.unsummed_from > $2
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
