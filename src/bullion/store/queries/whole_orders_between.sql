-- A page of all that the API shows between two ordinals, newest first. $4 is `all`, or nothing where everything is
-- shown.
SELECT *
FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN $2 AND $3
    AND (
        CAST($4 AS TEXT) IS NULL
        OR (status <> 'deleted' AND (source = 'api' OR status NOT IN ('pending', 'rejected')))
    )
ORDER BY ordinal DESC
LIMIT $5 OFFSET $6
