-- The bound by 0 is that of the index.
SELECT *
FROM venue_orders
WHERE broker = $1 AND execution_no > $2 AND execution_no > 0
ORDER BY execution_no
LIMIT $3
