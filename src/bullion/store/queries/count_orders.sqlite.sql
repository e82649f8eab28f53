-- The orders from an ordinal on, in each of some books: those that were just written.
WITH placed (book_id, first_ordinal) AS (VALUES $rows)

INSERT INTO order_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT
    orders.book_id,
    levels.level,
    orders.ordinal / levels.size,
    orders.symbol_code,
    orders.trade_type,
    iif(orders.status = 'pending' AND orders.source <> 'api', 'pending elsewhere', orders.status),
    count(*)
FROM placed
CROSS JOIN orders ON orders.book_id = placed.book_id AND orders.ordinal >= placed.first_ordinal
CROSS JOIN (SELECT 0 AS level, 512 AS size UNION ALL SELECT 1, 65536) AS levels
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
