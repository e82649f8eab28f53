-- As a range in its order: on PostgreSQL a plan made on an empty table might else go through the index of brokers.
SELECT * FROM venue_orders WHERE order_id BETWEEN $1 AND $1 ORDER BY order_id LIMIT 1
