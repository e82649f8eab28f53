-- From the old end, a few at a time: every write forgets more than it adds.
DELETE FROM trace_batches
WHERE ordinal IN (
    SELECT oldest.ordinal
    FROM (SELECT ordinal, bytes_through FROM trace_batches ORDER BY ordinal LIMIT 20) AS oldest
    WHERE oldest.ordinal <= $1 OR oldest.bytes_through <= $2
)
