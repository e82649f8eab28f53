-- The same with all that there is of them.
SELECT *
FROM orders
WHERE
    book_id = $1
    AND client_order_id = $2
    AND ordinal BETWEEN $3 AND $4
    AND (CAST($5 AS TEXT) IS NULL OR symbol_code = $5)
    AND (CAST($6 AS TEXT) IS NULL OR trade_type = $6)
    AND (
        CAST($7 AS TEXT) IS NULL
        OR (
            (status = $7 OR ($7 = 'all' AND status <> 'deleted'))
            AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
        )
    )
ORDER BY ordinal DESC
LIMIT $8 OFFSET $9
