-- A page of the orders of some kinds, newest first: of each kind no more than the page can need. $2 has the kinds,
-- each as status, symbol and side.
SELECT orders.ordinal
FROM json_each($2) AS kinds
CROSS JOIN orders
    ON orders.rowid IN (
        SELECT newest.rowid
        FROM orders AS newest
        WHERE
            newest.book_id = $1
            AND newest.status = json_extract(kinds.value, '$[0]')
            AND newest.symbol_code = json_extract(kinds.value, '$[1]')
            AND newest.trade_type = json_extract(kinds.value, '$[2]')
            AND newest.ordinal BETWEEN $3 AND $4
            AND newest.book_id > 0
        ORDER BY newest.ordinal DESC
        LIMIT $5 + $6
    )
ORDER BY orders.ordinal DESC
LIMIT $5 OFFSET $6
