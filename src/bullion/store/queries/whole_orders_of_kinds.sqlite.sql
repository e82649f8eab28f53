-- The same with all that there is of them, without those that the API hides.
SELECT orders.*
FROM (
    SELECT found.ordinal
    FROM json_each($2) AS kinds
    CROSS JOIN orders AS found
        ON found.rowid IN (
            SELECT newest.rowid
            FROM orders AS newest
            WHERE
                newest.book_id = $1
                AND newest.status = json_extract(kinds.value, '$[0]')
                AND newest.symbol_code = json_extract(kinds.value, '$[1]')
                AND newest.trade_type = json_extract(kinds.value, '$[2]')
                AND newest.ordinal BETWEEN $3 AND $4
                AND newest.book_id > 0
                AND (newest.source = 'api' OR newest.status NOT IN ('pending', 'rejected'))
            ORDER BY newest.ordinal DESC
            LIMIT $5 + $6
        )
    ORDER BY found.ordinal DESC
    LIMIT $5 OFFSET $6
) AS page
CROSS JOIN orders ON orders.book_id = $1 AND orders.ordinal = page.ordinal
ORDER BY page.ordinal DESC
