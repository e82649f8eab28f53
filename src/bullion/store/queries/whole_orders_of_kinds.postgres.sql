-- The same with all that there is of them, without those that the API hides.
SELECT orders.*
FROM (
    SELECT found.ordinal
    FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS kinds (kind)
    CROSS JOIN LATERAL (
        SELECT newest.ordinal
        FROM orders AS newest
        WHERE
            newest.book_id = $1
            AND newest.status = kinds.kind ->> 0
            AND newest.symbol_code = kinds.kind ->> 1
            AND newest.trade_type = kinds.kind ->> 2
            AND newest.ordinal BETWEEN $3 AND $4
            AND newest.metal <> ''
            AND (newest.source = 'api' OR newest.status NOT IN ('pending', 'rejected'))
        ORDER BY newest.ordinal DESC
        LIMIT CAST($5 AS BIGINT) + CAST($6 AS BIGINT)
    ) AS found
    ORDER BY found.ordinal DESC
    LIMIT $5 OFFSET $6
) AS page
INNER JOIN orders ON orders.book_id = $1 AND orders.ordinal = page.ordinal
ORDER BY page.ordinal DESC
