-- How many listed orders of each kind have ids from $1 up to, and without, $2. Orders in the order of their ids, and
-- books and accounts each by itself, so that a plan made on empty tables does not read all of them.
SELECT
    owner.broker,
    found.environment,
    found.source,
    found.symbol_code,
    CAST(sum(found.orders) AS BIGINT) AS orders
FROM (
    SELECT book.account_id, book.environment, made.source, made.symbol_code, count(*) AS orders
    FROM (
        SELECT orders.book_id, orders.ordinal, orders.source, orders.symbol_code
        FROM orders
        WHERE orders.id >= $1 AND orders.id < $2
        ORDER BY orders.id
    ) AS made
    CROSS JOIN LATERAL (SELECT * FROM books WHERE books.id = made.book_id LIMIT 1) AS book
    WHERE made.ordinal > book.archived_count
    GROUP BY book.account_id, book.environment, made.source, made.symbol_code
) AS found
CROSS JOIN LATERAL (SELECT * FROM accounts WHERE accounts.id = found.account_id LIMIT 1) AS owner
GROUP BY owner.broker, found.environment, found.source, found.symbol_code
