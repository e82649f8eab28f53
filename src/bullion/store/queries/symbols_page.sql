SELECT
    symbols.*,
    EXISTS (
        SELECT 1 FROM stocks WHERE stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code
    ) AS stock_kept
FROM symbols
WHERE broker = $1
ORDER BY code
LIMIT $2 OFFSET $3
