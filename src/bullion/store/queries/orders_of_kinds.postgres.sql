-- A page of the orders of some kinds, newest first: of each kind no more than the page can need. $2 has the kinds,
-- each as status, symbol and side. They are taken apart first (OFFSET 0 keeps it so): comparing with plain values is
-- what makes the index of the kinds the cheapest way even on an empty table, on which the plan may have been made.
SELECT found.ordinal
FROM (
    SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
    FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
    OFFSET 0
) AS kinds
CROSS JOIN LATERAL (
    SELECT orders.ordinal
    FROM orders
    WHERE
        orders.book_id = $1
        AND orders.status = kinds.status
        AND orders.symbol_code = kinds.symbol_code
        AND orders.trade_type = kinds.trade_type
        AND orders.ordinal BETWEEN $3 AND $4
        AND orders.metal <> ''
    ORDER BY orders.ordinal DESC
    LIMIT CAST($5 AS BIGINT) + CAST($6 AS BIGINT)
) AS found
ORDER BY found.ordinal DESC
LIMIT $5 OFFSET $6
