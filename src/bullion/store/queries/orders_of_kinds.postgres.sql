-- A page of the orders of some kinds, newest first: of each kind no more than the page can need. $2 has the kinds,
-- each as status, symbol and side.
SELECT found.ordinal
FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS kinds (kind)
CROSS JOIN LATERAL (
    SELECT orders.ordinal
    FROM orders
    WHERE
        orders.book_id = $1
        AND orders.status = kinds.kind ->> 0
        AND orders.symbol_code = kinds.kind ->> 1
        AND orders.trade_type = kinds.kind ->> 2
        AND orders.ordinal BETWEEN $3 AND $4
        AND orders.metal <> ''
    ORDER BY orders.ordinal DESC
    LIMIT CAST($5 AS BIGINT) + CAST($6 AS BIGINT)
) AS found
ORDER BY found.ordinal DESC
LIMIT $5 OFFSET $6
