-- The page that has $3 of some kinds before it, newest first, as far as it stands in the small block where it begins
-- and in the one behind that; the block where it begins with each. $2 to $4 as there; a small block holds $5 ordinals.
WITH place AS MATERIALIZED (
    @place_of
)

SELECT
    ordinal,
    (SELECT block FROM place) AS block
FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN (SELECT block - 1 FROM place) * $5 AND (SELECT block + 1 FROM place) * $5 - 1
    AND ordinal >= $9
    AND (CAST($6 AS TEXT) IS NULL OR symbol_code = $6)
    AND (CAST($7 AS TEXT) IS NULL OR trade_type = $7)
    AND (
        CAST($8 AS TEXT) IS NULL
        OR (
            (status = $8 OR ($8 = 'all' AND status <> 'deleted'))
            AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
        )
    )
ORDER BY ordinal DESC
LIMIT $10 OFFSET (SELECT before FROM place)
