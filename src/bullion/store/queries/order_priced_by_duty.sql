-- The first production order of a broker whose id, and so whose time, is from $1 up to $2, and whose price has the
-- component that the pattern $3 describes. $5 is a list, as JSON, of the symbols that are left out.
SELECT orders.id
FROM orders
WHERE
    orders.id >= $1
    AND orders.id < $2
    AND orders.book_id % 2 = 1
    AND orders.price_anatomy LIKE $3
    AND replace(CAST($5 AS TEXT), '"' || orders.symbol_code || '"', '') = CAST($5 AS TEXT)
    AND (SELECT accounts.broker FROM accounts WHERE accounts.id = orders.book_id / 2) = $4
ORDER BY orders.id
LIMIT 1
