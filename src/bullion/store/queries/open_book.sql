-- A book, and what is open in it per symbol: one row where nothing is.
SELECT
    books.id,
    books.gold_net_e4,
    books.silver_net_e4,
    books.gold_limit_e4,
    books.silver_limit_e4,
    books.order_count,
    books.archived_count,
    books.last_order_at_us,
    books.version,
    weights.symbol_code,
    weights.metal,
    weights.buy_e4,
    weights.sell_e4
FROM books
LEFT JOIN open_weights AS weights
    ON weights.book_id = books.id AND (weights.buy_e4 > 0 OR weights.sell_e4 > 0)
WHERE books.id = $1
ORDER BY weights.symbol_code
