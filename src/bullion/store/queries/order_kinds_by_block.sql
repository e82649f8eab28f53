-- The same for each large block.
SELECT block, status, symbol_code, trade_type, orders
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
    AND orders > 0
