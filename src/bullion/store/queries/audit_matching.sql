-- Entries from one ordinal down to another, newest first, that are of this action and have these words in the
-- actor's name and in what they are about.
SELECT *
FROM audit
WHERE
    broker = $1
    AND ordinal <= $2
    AND ordinal >= $3
    AND (CAST($4 AS TEXT) IS NULL OR action = $4)
    AND (CAST($5 AS TEXT) IS NULL OR lower(actor) LIKE lower($5) ESCAPE '\')
    AND (CAST($6 AS TEXT) IS NULL OR lower(subject) LIKE lower($6) ESCAPE '\')
ORDER BY ordinal DESC
LIMIT $7
