-- Each by itself: see `some_orders`.
SELECT found.*
FROM unnest($2::BIGINT []) AS asked (ordinal)
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.book_id = $1 AND orders.ordinal BETWEEN asked.ordinal AND asked.ordinal
    ORDER BY orders.ordinal
    LIMIT 1
) AS found
