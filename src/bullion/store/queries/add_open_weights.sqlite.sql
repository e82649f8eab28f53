-- The orders from an ordinal on, in each of some production books: those that were just written.
WITH placed (book_id, first_ordinal) AS (VALUES $rows)

INSERT INTO open_weights AS weights (book_id, symbol_code, metal, buy_e4, sell_e4)
SELECT
    orders.book_id,
    orders.symbol_code,
    orders.metal,
    sum(iif(orders.trade_type = 'buy', orders.quantity_e4, 0)),
    sum(iif(orders.trade_type = 'sell', orders.quantity_e4, 0))
FROM placed
CROSS JOIN orders ON orders.book_id = placed.book_id AND orders.ordinal >= placed.first_ordinal
GROUP BY 1, 2, 3
ON CONFLICT (book_id, symbol_code)
DO UPDATE SET buy_e4 = weights.buy_e4 + excluded.buy_e4, sell_e4 = weights.sell_e4 + excluded.sell_e4
