-- The packed orders among which the one of this key is, and its ordinal.
SELECT archived.*, named.ordinal
FROM archived_keys AS named
INNER JOIN archived_orders AS archived
    ON
        archived.book_id = named.book_id
        AND archived.first_ordinal = (
            SELECT max(before.first_ordinal)
            FROM archived_orders AS before
            WHERE before.book_id = named.book_id AND before.first_ordinal <= named.ordinal
        )
WHERE named.book_id = $1 AND named.source = $2 AND named.idempotency_key = $3
