-- One order fewer of a kind in the blocks of an ordinal, if they are summed.
UPDATE block_counts
SET orders = block_counts.orders - 1
FROM books
CROSS JOIN block_levels AS levels
WHERE
    books.id = $1
    AND books.unsummed_from > $2
    AND block_counts.book_id = $1
    AND block_counts.level = levels.level
    AND block_counts.block = CAST($2 AS BIGINT) / levels.size
    AND block_counts.symbol_code = $3
    AND block_counts.trade_type = $4
    AND block_counts.status = $5
