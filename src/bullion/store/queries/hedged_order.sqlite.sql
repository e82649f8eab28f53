-- A production order of a broker with its hedge request.
SELECT
    orders.*,
    hedges.broker,
    hedges.instrument,
    hedges.took_stock,
    hedges.outcome AS hedge_outcome,
    hedges.execution_id AS hedge_execution_id
FROM orders
CROSS JOIN hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
WHERE orders.id = $1 AND hedges.broker = $2
