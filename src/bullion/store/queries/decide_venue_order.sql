UPDATE venue_orders
SET outcome = $2, execution_id = $3, executed_at_us = $4
WHERE order_id = $1 AND outcome IS NULL
