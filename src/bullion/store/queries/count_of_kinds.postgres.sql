-- How many orders of some kinds some small blocks hold, from $3 to $4, and with them a range of ordinals within a
-- block, from $5 to $6. $2 has the kinds, each as status, symbol and side, taken apart as in `orders_of_kinds`.
SELECT CAST(coalesce(sum(found.blocks + found.apart), 0) AS BIGINT) AS total
FROM (
    SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
    FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
    OFFSET 0
) AS kinds
CROSS JOIN LATERAL (
    SELECT
        (
            SELECT coalesce(sum(counts.orders), 0)
            FROM order_counts AS counts
            WHERE
                counts.book_id = $1
                AND counts.level = 0
                AND counts.symbol_code = kinds.symbol_code
                AND counts.trade_type = kinds.trade_type
                AND counts.status = kinds.status
                AND counts.block BETWEEN $3 AND $4
        ) AS blocks,
        (
            SELECT count(*)
            FROM orders
            WHERE
                orders.book_id = $1
                AND orders.status = kinds.status
                AND orders.symbol_code = kinds.symbol_code
                AND orders.trade_type = kinds.trade_type
                AND orders.ordinal BETWEEN $5 AND $6
                AND orders.metal <> ''
                AND (orders.status NOT IN ('pending', 'rejected') OR orders.source = 'api')
        ) AS apart
) AS found
