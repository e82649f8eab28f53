WITH asked (book_id, ordinal) AS (VALUES $rows)

SELECT orders.*
FROM asked
CROSS JOIN orders ON orders.book_id = asked.book_id AND orders.ordinal = asked.ordinal
