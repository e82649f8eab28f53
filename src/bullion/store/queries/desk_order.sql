-- One order, archived or not. Whose it is, is asked of the order: no plan begins with the broker's accounts.
SELECT found.*, accounts.login_id, books.archived_count
FROM (
    SELECT orders.*
    FROM orders
    WHERE
        orders.id = $1
        AND (
            SELECT accounts.broker
            FROM books
            INNER JOIN accounts ON accounts.id = books.account_id
            WHERE books.id = orders.book_id
        ) = $2
    LIMIT 1
) AS found
INNER JOIN books ON books.id = found.book_id
INNER JOIN accounts ON accounts.id = books.account_id
