-- Each book by itself, in the order of its ordinals, so that no plan goes through the ids of all accounts.
SELECT count(*) AS total
FROM (
    (
        SELECT orders.ordinal
        FROM orders
        WHERE
            orders.book_id = $8
            AND orders.ordinal >= $9
            AND (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
            AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
            AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
            AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
            AND orders.id >= $5
            AND orders.id < $6
            AND orders.created_at_us >= $7
        ORDER BY orders.ordinal
    )
    UNION ALL
    (
        SELECT orders.ordinal
        FROM orders
        WHERE
            orders.book_id = $10
            AND orders.ordinal >= $11
            AND (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
            AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
            AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
            AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
            AND orders.id >= $5
            AND orders.id < $6
            AND orders.created_at_us >= $7
        ORDER BY orders.ordinal
    )
) AS counted
