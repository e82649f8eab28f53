-- A page of all orders of a book, by ordinal, so that it costs the same however far down it is; with it the
-- number of all, from the same snapshot. Where the page is empty, one row has the number alone.
SELECT
    orders.*,
    books.order_count - books.archived_count AS total
FROM books
LEFT JOIN orders
    ON
        orders.book_id = books.id
        AND orders.ordinal > books.archived_count
        AND orders.ordinal <= books.order_count - $3
        AND orders.ordinal > books.order_count - $3 - $2
WHERE books.id = $1
ORDER BY orders.ordinal DESC
