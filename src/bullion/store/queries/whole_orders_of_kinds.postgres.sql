-- The same with all that there is of them, without those that the API hides. The orders of the page are looked up one
-- by one: see `some_orders`.
SELECT found.*
FROM (
    SELECT of_kind.ordinal
    FROM (
        SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
        FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
        OFFSET 0
    ) AS kinds
    CROSS JOIN LATERAL (
        SELECT newest.ordinal
        FROM orders AS newest
        WHERE
            newest.book_id = $1
            AND newest.status = kinds.status
            AND newest.symbol_code = kinds.symbol_code
            AND newest.trade_type = kinds.trade_type
            AND newest.ordinal BETWEEN $3 AND $4
            AND newest.metal <> ''
            AND (newest.source = 'api' OR newest.status NOT IN ('pending', 'rejected'))
        ORDER BY newest.ordinal DESC
        LIMIT CAST($5 AS BIGINT) + CAST($6 AS BIGINT)
    ) AS of_kind
    ORDER BY of_kind.ordinal DESC
    LIMIT $5 OFFSET $6
) AS page
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.book_id = $1 AND orders.ordinal BETWEEN page.ordinal AND page.ordinal
    ORDER BY orders.ordinal
    LIMIT 1
) AS found
ORDER BY found.ordinal DESC
