-- Executions of orders that were decided later than they were taken, or by a node of the version before. By time, of
-- any: only the index of these has that order.
SELECT order_id, broker
FROM venue_orders
WHERE outcome = 'confirmed' AND execution_no IS NULL AND executed_at_us >= 0
ORDER BY executed_at_us
LIMIT $1
