-- The packed orders among which the one of this key is, and its ordinal. LATERAL: looked up by itself, whatever a plan
-- made on an empty table thinks is quicker.
SELECT archived.*, named.ordinal
FROM archived_keys AS named
CROSS JOIN LATERAL (
    SELECT *
    FROM archived_orders
    WHERE archived_orders.book_id = named.book_id AND archived_orders.first_ordinal <= named.ordinal
    ORDER BY archived_orders.first_ordinal DESC
    LIMIT 1
) AS archived
WHERE named.book_id = $1 AND named.source = $2 AND named.idempotency_key = $3
