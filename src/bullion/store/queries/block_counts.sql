-- How many orders of a kind each block of a level holds, newest block first. $7 is a status, `all` for what the
-- API shows when it is not asked for one, or nothing where every order is shown: in the test environment.
SELECT block, CAST(sum(orders) AS BIGINT) AS orders
FROM order_counts
WHERE
    book_id = $1
    AND level = $2
    AND block BETWEEN $3 AND $4
    AND (CAST($5 AS TEXT) IS NULL OR symbol_code = $5)
    AND (CAST($6 AS TEXT) IS NULL OR trade_type = $6)
    AND (
        CAST($7 AS TEXT) IS NULL
        OR status = $7
        OR ($7 = 'all' AND status NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere'))
    )
GROUP BY block
HAVING sum(orders) > 0
ORDER BY block DESC
