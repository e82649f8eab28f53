-- Order and id of those executions that the hedge request of their order knows, with the order's own side and weight. $1 are
-- the executions as JSON.
SELECT json_extract(listed.value, '$[0]') AS order_id, json_extract(listed.value, '$[1]') AS execution_id
FROM json_each($1) AS listed
CROSS JOIN orders ON orders.id = json_extract(listed.value, '$[0]')
CROSS JOIN hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
WHERE
    hedges.broker = $2
    AND hedges.outcome = 'confirmed'
    AND hedges.execution_id = json_extract(listed.value, '$[1]')
    AND orders.trade_type = json_extract(listed.value, '$[2]')
    AND orders.quantity_e4 = json_extract(listed.value, '$[3]')
