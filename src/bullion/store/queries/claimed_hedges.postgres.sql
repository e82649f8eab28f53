-- In the order of their time, which only the index of what is due has; and each order by itself: see `some_orders`.
SELECT found.*, hedges.broker, hedges.instrument, hedges.took_stock, hedges.tries
FROM (
    SELECT *
    FROM hedge_requests
    WHERE state = 'waiting' AND holder = $1 AND due_at_us BETWEEN $2 AND $2
    ORDER BY due_at_us
) AS hedges
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.book_id = hedges.book_id AND orders.ordinal BETWEEN hedges.ordinal AND hedges.ordinal
    ORDER BY orders.ordinal
    LIMIT 1
) AS found
