-- By their place in their book alone, so that no plan goes by the index of ids, which is not led by the book. Whoever
-- asks compares the ids.
--
-- Each is looked up by itself, in the order of the ordinals: only the primary key has that. A plan made on an empty
-- table might else go through all orders, or all keys of a book.
SELECT found.*
FROM unnest($1::BIGINT [], $2::BIGINT []) AS asked (book_id, ordinal)
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.book_id = asked.book_id AND orders.ordinal BETWEEN asked.ordinal AND asked.ordinal
    ORDER BY orders.ordinal
    LIMIT 1
) AS found
