-- Which kinds of orders a book has from a large block on, how many of each, and how many of those in later blocks.
-- $5 is a status, `all` for what the API shows when it is not asked for one, `hidden` for all others, or nothing where
-- every order is shown: in the test environment.
SELECT
    status,
    symbol_code,
    trade_type,
    CAST(sum(orders) AS BIGINT) AS orders,
    CAST(sum(CASE WHEN block > $2 THEN orders ELSE 0 END) AS BIGINT) AS later
FROM order_counts
WHERE
    book_id = $1
    AND level = 1
    AND block >= $2
    AND (CAST($3 AS TEXT) IS NULL OR symbol_code = $3)
    AND (CAST($4 AS TEXT) IS NULL OR trade_type = $4)
    AND (
        CAST($5 AS TEXT) IS NULL
        OR status = $5
        OR ($5 = 'all' AND status NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere'))
        OR ($5 = 'hidden' AND status IN ('deleted', 'pending elsewhere', 'rejected elsewhere'))
    )
GROUP BY status, symbol_code, trade_type
HAVING sum(orders) > 0
