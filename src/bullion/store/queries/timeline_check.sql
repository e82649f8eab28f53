-- How many orders of all books are listed, by the books themselves; and how many of them have ids from $1 on.
SELECT
    (
        SELECT CAST(coalesce(sum(books.order_count - books.archived_count), 0) AS BIGINT)
        FROM books
        WHERE books.id >= 0
    ) AS listed,
    (
        SELECT count(*)
        FROM orders
        WHERE
            orders.id >= $1
            AND orders.ordinal > (SELECT books.archived_count FROM books WHERE books.id = orders.book_id)
    ) AS newer
