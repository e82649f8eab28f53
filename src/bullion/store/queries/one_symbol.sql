SELECT
    symbols.*,
    stocks.weight_e4 AS stock_e4,
    stocks.weight_e4 IS NOT NULL AS stock_kept
FROM symbols
LEFT JOIN stocks ON stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code
WHERE symbols.broker = $1 AND symbols.code = $2
