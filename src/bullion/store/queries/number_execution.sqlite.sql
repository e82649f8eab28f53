-- With its broker as in `decide_venue_order`, and the outcome as the state in `postpone_hedge`.
UPDATE venue_orders
SET execution_no = (
        SELECT coalesce(max(numbered.execution_no), 0) + 1
        FROM venue_orders AS numbered
        WHERE numbered.broker = $2 AND numbered.execution_no > 0
    )
WHERE order_id = $1 AND broker = $2 AND outcome = (SELECT 'confirmed') AND execution_no IS NULL
