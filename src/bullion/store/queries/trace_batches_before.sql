SELECT ordinal, traces
FROM trace_batches
WHERE CAST($1 AS BIGINT) IS NULL OR ordinal < $1
ORDER BY ordinal DESC
LIMIT $2
