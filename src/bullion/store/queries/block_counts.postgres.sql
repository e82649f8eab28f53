-- How many orders of some kinds each block of a level holds, newest block first. $2 has the kinds, each as status,
-- symbol and side. OFFSET 0 keeps the question for one kind as it is: by the whole of its key.
SELECT counts.block, CAST(sum(counts.orders) AS BIGINT) AS orders
FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS kinds (kind)
CROSS JOIN LATERAL (
    SELECT order_counts.block, order_counts.orders
    FROM order_counts
    WHERE
        order_counts.book_id = $1
        AND order_counts.level = $3
        AND order_counts.symbol_code = kinds.kind ->> 1
        AND order_counts.trade_type = kinds.kind ->> 2
        AND order_counts.status = kinds.kind ->> 0
        AND order_counts.block BETWEEN $4 AND $5
    OFFSET 0
) AS counts
GROUP BY counts.block
HAVING sum(counts.orders) > 0
ORDER BY counts.block DESC
