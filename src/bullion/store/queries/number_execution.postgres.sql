-- With its broker as in `decide_venue_order`, and the outcome as the state in `postpone_hedge`.
UPDATE venue_orders
SET execution_no = nextval('venue_execution_numbers')
WHERE order_id = $1 AND broker = $2 AND outcome = (SELECT 'confirmed') AND execution_no IS NULL
