-- By order, for ids begin with their time.
SELECT *
FROM venue_orders
WHERE broker = $1 AND outcome IS NOT NULL
ORDER BY order_id DESC
LIMIT $2 OFFSET $3
