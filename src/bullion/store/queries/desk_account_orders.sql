-- A page of the orders of one account, newest first: of each of its two books no more than the page can need.
-- $8 and $10 are the books, $9 and $11 the ordinal of each from which on its orders are looked at.
SELECT page.*, accounts.login_id, books.archived_count
FROM (
    SELECT *
    FROM (
        SELECT *
        FROM (
            SELECT *
            FROM orders
            WHERE
                book_id = $8
                AND ordinal >= $9
                AND (CAST($1 AS TEXT) IS NULL OR symbol_code = $1)
                AND (CAST($2 AS TEXT) IS NULL OR status = $2)
                AND (CAST($3 AS TEXT) IS NULL OR source = $3)
                AND (CAST($4 AS TEXT) IS NULL OR request_id = $4)
                AND id >= $5
                AND id < $6
                AND created_at_us >= $7
            ORDER BY ordinal DESC
            LIMIT CAST($12 AS BIGINT) + CAST($13 AS BIGINT)
        ) AS newest8
        UNION ALL
        SELECT *
        FROM (
            SELECT *
            FROM orders
            WHERE
                book_id = $10
                AND ordinal >= $11
                AND (CAST($1 AS TEXT) IS NULL OR symbol_code = $1)
                AND (CAST($2 AS TEXT) IS NULL OR status = $2)
                AND (CAST($3 AS TEXT) IS NULL OR source = $3)
                AND (CAST($4 AS TEXT) IS NULL OR request_id = $4)
                AND id >= $5
                AND id < $6
                AND created_at_us >= $7
            ORDER BY ordinal DESC
            LIMIT CAST($12 AS BIGINT) + CAST($13 AS BIGINT)
        ) AS newest10
    ) AS newest
    ORDER BY created_at_us DESC, ordinal DESC, id DESC
    LIMIT $12 OFFSET $13
) AS page
INNER JOIN books ON books.id = page.book_id
INNER JOIN accounts ON accounts.id = books.account_id
ORDER BY page.created_at_us DESC, page.ordinal DESC, page.id DESC
