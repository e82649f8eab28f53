-- A production order of a broker with its hedge request. Each row is looked up by itself: see `some_orders`.
SELECT
    found.*,
    hedges.broker,
    hedges.instrument,
    hedges.took_stock,
    hedges.outcome AS hedge_outcome,
    hedges.execution_id AS hedge_execution_id
FROM (
    SELECT *
    FROM orders
    WHERE orders.id BETWEEN $1 AND $1
    ORDER BY orders.id
    LIMIT 1
) AS found
CROSS JOIN LATERAL (
    SELECT *
    FROM hedge_requests
    WHERE hedge_requests.book_id = found.book_id AND hedge_requests.ordinal BETWEEN found.ordinal AND found.ordinal
    ORDER BY hedge_requests.ordinal
    LIMIT 1
) AS hedges
WHERE hedges.broker = $2
