-- $7 orders more, or fewer, of a kind in a block.
INSERT INTO order_counts AS counts (book_id, level, block, symbol_code, trade_type, status, orders)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (book_id, level, block, symbol_code, trade_type, status)
DO UPDATE SET orders = counts.orders + excluded.orders
