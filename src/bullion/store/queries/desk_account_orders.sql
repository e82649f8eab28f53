-- A page of the orders of one account, newest first: its two books, each in the order of its index, are merged.
-- $8 and $10 are the books, $9 and $11 how many orders of each are archived.
SELECT page.*, accounts.login_id, books.archived_count
FROM (
    SELECT orders.*
    FROM orders
    WHERE
        orders.book_id = $8
        AND orders.ordinal > $9
        AND (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
        AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
        AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
        AND orders.id >= $5
        AND orders.id < $6
        AND orders.created_at_us >= $7
    UNION ALL
    SELECT orders.*
    FROM orders
    WHERE
        orders.book_id = $10
        AND orders.ordinal > $11
        AND (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
        AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
        AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
        AND orders.id >= $5
        AND orders.id < $6
        AND orders.created_at_us >= $7
    ORDER BY id DESC
    LIMIT $12 OFFSET $13
) AS page
INNER JOIN books ON books.id = page.book_id
INNER JOIN accounts ON accounts.id = books.account_id
ORDER BY page.id DESC
