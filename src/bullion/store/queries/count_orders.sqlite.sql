INSERT INTO order_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
VALUES $rows
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
