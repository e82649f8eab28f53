-- Newest first, by ordinal.
SELECT ordinal
FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN $2 AND $3
    AND (CAST($4 AS TEXT) IS NULL OR symbol_code = $4)
    AND (CAST($5 AS TEXT) IS NULL OR trade_type = $5)
ORDER BY ordinal DESC
LIMIT $6 OFFSET $7
