SELECT count(*) AS total
FROM orders
WHERE
    (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
    AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
    AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
    AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
    AND orders.id >= $5
    AND orders.id < $6
    AND orders.created_at_us >= $7
    AND (
        SELECT (
            SELECT accounts.broker
            FROM accounts
            WHERE accounts.id = books.account_id AND (CAST($10 AS TEXT) IS NULL OR accounts.login_id = $10)
            LIMIT 1
        )
        FROM books
        WHERE
            books.id = orders.book_id
            AND books.archived_count < orders.ordinal
            AND (CAST($9 AS TEXT) IS NULL OR books.environment = $9)
        LIMIT 1
    ) = $8
