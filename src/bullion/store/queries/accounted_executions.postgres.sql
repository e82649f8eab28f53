-- Order and id of those executions that the hedge request of their order knows, with the order's own side and weight. Each
-- row is looked up by itself: see `some_orders`. $1 are the executions as JSON: one value is handed over far quicker
-- than four lists.
SELECT listed.row ->> 0 AS order_id, listed.row ->> 1 AS execution_id
FROM jsonb_array_elements($1::JSONB) AS listed (row)
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.id BETWEEN listed.row ->> 0 AND listed.row ->> 0
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
WHERE
    hedges.broker = $2
    AND hedges.outcome = 'confirmed'
    AND hedges.execution_id = listed.row ->> 1
    AND found.trade_type = listed.row ->> 2
    AND found.quantity_e4 = (listed.row ->> 3)::BIGINT
