-- Newest first, by ordinal: of a range that is not long, or of which almost all match.
SELECT ordinal
FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN $2 AND $3
    AND (CAST($4 AS TEXT) IS NULL OR symbol_code = $4)
    AND (CAST($5 AS TEXT) IS NULL OR trade_type = $5)
    AND (
        CAST($6 AS TEXT) IS NULL
        OR (
            (status = $6 OR ($6 = 'all' AND status <> 'deleted'))
            AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
        )
    )
ORDER BY ordinal DESC
LIMIT $7 OFFSET $8
