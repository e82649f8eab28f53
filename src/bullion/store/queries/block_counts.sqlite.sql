-- How many orders of some kinds each block of a level holds, newest block first. $2 has the kinds, each as status,
-- symbol and side.
SELECT counts.block, sum(counts.orders) AS orders
FROM json_each($2) AS kinds
CROSS JOIN order_counts AS counts
    ON
        counts.book_id = $1
        AND counts.level = $3
        AND counts.symbol_code = json_extract(kinds.value, '$[1]')
        AND counts.trade_type = json_extract(kinds.value, '$[2]')
        AND counts.status = json_extract(kinds.value, '$[0]')
        AND counts.block BETWEEN $4 AND $5
GROUP BY counts.block
HAVING sum(counts.orders) > 0
ORDER BY counts.block DESC
