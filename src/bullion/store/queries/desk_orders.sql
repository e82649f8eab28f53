-- A page of a broker's orders, newest first: by id, for ids begin with their time. Each order is asked by itself
-- whose it is, so that no plan begins with the accounts and sorts all that they have; with LIMIT 1, so that a plan made
-- on empty tables does not read all books for each order.
SELECT
    page.*,
    (
        SELECT (SELECT accounts.login_id FROM accounts WHERE accounts.id = books.account_id LIMIT 1)
        FROM books
        WHERE books.id = page.book_id
        LIMIT 1
    ) AS login_id,
    (SELECT books.archived_count FROM books WHERE books.id = page.book_id LIMIT 1) AS archived_count
FROM (
    SELECT orders.*
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
    ORDER BY orders.id DESC
    LIMIT $11 OFFSET $12
) AS page
ORDER BY page.id DESC
