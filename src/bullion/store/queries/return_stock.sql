-- To where it was taken from, if that was so and the desk still keeps a stock there.
UPDATE stocks
SET weight_e4 = weight_e4 + $4
WHERE
    symbol_code = $3
    AND broker = (
        SELECT broker FROM hedge_requests WHERE book_id = $1 AND ordinal = $2 AND took_stock = 1
    )
