-- How many orders of some kinds each block of a level holds, newest block first. $2 has the kinds, each as status,
-- symbol and side.
SELECT counts.block, CAST(sum(counts.orders) AS BIGINT) AS orders
FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS kinds (kind)
INNER JOIN order_counts AS counts
    ON
        counts.book_id = $1
        AND counts.level = $3
        AND counts.symbol_code = kinds.kind ->> 1
        AND counts.trade_type = kinds.kind ->> 2
        AND counts.status = kinds.kind ->> 0
        AND counts.block BETWEEN $4 AND $5
GROUP BY counts.block
HAVING sum(counts.orders) > 0
ORDER BY counts.block DESC
