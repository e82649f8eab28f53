-- Symbols and their stock.

-- fragment: symbols_with_stock
SELECT
    symbols.*, stocks.weight_e4 AS stock_e4, stocks.weight_e4 IS NOT NULL AS stock_kept,
    coalesce(positions.policy = 'book', FALSE) AS in_book
FROM symbols
LEFT JOIN stocks ON stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code
LEFT JOIN book_positions AS positions ON positions.broker = symbols.broker AND positions.metal = symbols.metal

-- name: all_symbols
@symbols_with_stock

-- name: one_symbol
@symbols_with_stock
WHERE symbols.broker = $1 AND symbols.code = $2

-- name: symbols_page
@symbols_with_stock
WHERE symbols.broker = $1
ORDER BY symbols.code
LIMIT $2 OFFSET $3

-- name: symbols_of_broker
@symbols_with_stock
WHERE symbols.broker = $1

-- name: count_symbols
SELECT count(*) AS total FROM symbols WHERE broker = $1

-- name: put_symbol
INSERT INTO symbols (
    broker, code, metal, quoted_weight_e4, trading, buy_offered, sell_offered, frozen, minimum_e4, maximum_e4,
    step_e4, rate_age_s_max, freeze_after_s, pricing, fineness_e4
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (broker, code) DO UPDATE SET
    metal = excluded.metal, quoted_weight_e4 = excluded.quoted_weight_e4, trading = excluded.trading,
    buy_offered = excluded.buy_offered, sell_offered = excluded.sell_offered, frozen = excluded.frozen,
    minimum_e4 = excluded.minimum_e4, maximum_e4 = excluded.maximum_e4, step_e4 = excluded.step_e4,
    rate_age_s_max = excluded.rate_age_s_max, freeze_after_s = excluded.freeze_after_s, pricing = excluded.pricing,
    fineness_e4 = excluded.fineness_e4

-- name: lock_stock
SELECT weight_e4 FROM stocks WHERE broker = $1 AND symbol_code = $2
@for_update

-- name: put_stock
INSERT INTO stocks (broker, symbol_code, weight_e4) VALUES ($1, $2, $3)
ON CONFLICT (broker, symbol_code) DO UPDATE SET weight_e4 = excluded.weight_e4

-- name: drop_stock
DELETE FROM stocks WHERE broker = $1 AND symbol_code = $2

-- name: move_stock
-- No row: the desk keeps no stock of it.
UPDATE stocks SET weight_e4 = weight_e4 + $3 WHERE broker = $1 AND symbol_code = $2

-- name: return_stock
-- To the stock that the order took it from, if it took any and the desk still keeps that stock.
UPDATE stocks
SET weight_e4 = weight_e4 + $4
WHERE
    symbol_code = $3
    AND broker = (SELECT broker FROM hedge_requests WHERE book_id = $1 AND ordinal = $2 AND took_stock = 1)
