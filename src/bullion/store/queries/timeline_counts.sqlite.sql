-- How many listed orders of each kind have ids from $1 up to, and without, $2.
SELECT
    accounts.broker,
    books.environment,
    found.source,
    found.symbol_code,
    CAST(sum(found.orders) AS BIGINT) AS orders
FROM (
    SELECT orders.book_id, orders.source, orders.symbol_code, count(*) AS orders
    FROM orders
    WHERE
        orders.id >= $1
        AND orders.id < $2
        AND orders.ordinal > (SELECT books.archived_count FROM books WHERE books.id = orders.book_id)
    GROUP BY orders.book_id, orders.source, orders.symbol_code
) AS found
INNER JOIN books ON books.id = found.book_id
INNER JOIN accounts ON accounts.id = books.account_id
GROUP BY accounts.broker, books.environment, found.source, found.symbol_code
