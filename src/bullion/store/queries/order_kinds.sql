-- Which kinds of orders a book has, and how many of each: in blocks that are summed, and among those from $2 on, which
-- are not. $5 is a status, `all` for what the API shows when it is not asked for one, or nothing where every order is
-- shown: in the test environment. ORDER BY: by the primary key, also by a plan made on an empty table.
SELECT
    status,
    symbol_code,
    trade_type,
    CAST(sum(summed) AS BIGINT) AS summed,
    CAST(sum(unsummed) AS BIGINT) AS unsummed
FROM (
    SELECT status, symbol_code, trade_type, orders AS summed, 0 AS unsummed
    FROM block_counts
    WHERE book_id = $1 AND level = 3 AND symbol_code <> ''
    UNION ALL
    SELECT
        CASE
            WHEN source <> 'api' AND status IN ('pending', 'rejected') THEN status || ' elsewhere'
            ELSE status
        END,
        symbol_code,
        trade_type,
        0,
        1
    FROM (
        SELECT source, status, symbol_code, trade_type
        FROM orders
        WHERE book_id = $1 AND ordinal >= $2
        ORDER BY ordinal
    ) AS newest
) AS kinds
WHERE
    (CAST($3 AS TEXT) IS NULL OR symbol_code = $3)
    AND (CAST($4 AS TEXT) IS NULL OR trade_type = $4)
    AND (
        CAST($5 AS TEXT) IS NULL
        OR status = $5
        OR ($5 = 'all' AND status NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere'))
    )
GROUP BY status, symbol_code, trade_type
HAVING sum(summed + unsummed) > 0
