-- One order fewer of a kind in the blocks of an ordinal, if they are summed.
UPDATE kind_counts
SET orders = kind_counts.orders - 1
FROM books
CROSS JOIN block_levels AS levels
WHERE
    books.id = $1
    AND books.unsummed_from > $2
    AND kind_counts.book_id = $1
    AND kind_counts.level = levels.level
    AND kind_counts.block = CAST($2 AS BIGINT) / levels.size
    AND kind_counts.symbol_code = $3
    AND kind_counts.trade_type = $4
    AND kind_counts.status = $5
