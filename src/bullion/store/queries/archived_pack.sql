-- The packed orders among which the one with this ordinal is, if it is in the archive.
SELECT *
FROM archived_orders
WHERE book_id = $1 AND first_ordinal <= $2 AND last_ordinal >= $2
ORDER BY first_ordinal DESC
LIMIT 1
