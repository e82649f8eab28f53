SELECT ordinal, traces
FROM trace_batches
WHERE ordinal > $1 AND from_ms < $2
ORDER BY ordinal
LIMIT $3
