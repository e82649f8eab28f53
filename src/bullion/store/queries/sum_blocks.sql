-- Counts the orders from ordinal $2 to $3 of a book, with which small blocks are full, into blocks of every level.
INSERT INTO kind_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT
    orders.book_id,
    levels.level,
    orders.ordinal / levels.size,
    orders.symbol_code,
    orders.trade_type,
    CASE
        WHEN orders.source <> 'api' AND orders.status IN ('pending', 'rejected') THEN orders.status || ' elsewhere'
        ELSE orders.status
    END,
    count(*)
FROM (SELECT * FROM orders WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal) AS orders
CROSS JOIN block_levels AS levels
GROUP BY 1, 2, 3, 4, 5, 6
UNION ALL
SELECT orders.book_id, levels.level, orders.ordinal / levels.size, '', '', 'shown', count(*)
FROM (SELECT * FROM orders WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal) AS orders
CROSS JOIN block_levels AS levels
WHERE
    orders.status <> 'deleted'
    AND (orders.source = 'api' OR orders.status NOT IN ('pending', 'rejected'))
GROUP BY 1, 2, 3
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
