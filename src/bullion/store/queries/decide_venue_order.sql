-- With its broker, so that on PostgreSQL either index leads straight to it: see `one_venue_order`.
UPDATE venue_orders
SET outcome = $2, execution_id = $3, executed_at_us = $4
WHERE
    order_id = $1
    AND broker = (
        SELECT known.broker
        FROM venue_orders AS known
        WHERE known.order_id BETWEEN $1 AND $1
        ORDER BY known.order_id
        LIMIT 1
    )
    AND outcome IS NULL
