SELECT count(*) AS total
FROM accounts
INNER JOIN books ON books.account_id = accounts.id
INNER JOIN orders ON orders.book_id = books.id AND orders.ordinal > books.archived_count
WHERE
    (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
    AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
    AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
    AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
    AND orders.id >= $5
    AND orders.id < $6
    AND orders.created_at_us >= $7
    AND accounts.broker = $8
    AND books.order_count > books.archived_count
    AND (CAST($9 AS TEXT) IS NULL OR books.environment = $9)
    AND (CAST($10 AS TEXT) IS NULL OR accounts.login_id = $10)
    AND orders.client_order_id = $11
