-- How many orders of a kind each block of a level holds, newest block first.
SELECT block, CAST(sum(orders) AS BIGINT) AS orders
FROM order_counts
WHERE
    book_id = $1
    AND level = $2
    AND block BETWEEN $3 AND $4
    AND (CAST($5 AS TEXT) IS NULL OR symbol_code = $5)
    AND (CAST($6 AS TEXT) IS NULL OR trade_type = $6)
GROUP BY block
HAVING sum(orders) > 0
ORDER BY block DESC
