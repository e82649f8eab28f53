INSERT INTO trace_batches (ordinal, from_ms, to_ms, bytes_through, traces)
SELECT
    coalesce((SELECT ordinal FROM trace_batches ORDER BY ordinal DESC LIMIT 1), 0) + 1,
    CAST($1 AS BIGINT),
    CAST($2 AS BIGINT),
    coalesce((SELECT bytes_through FROM trace_batches ORDER BY ordinal DESC LIMIT 1), 0) + CAST($3 AS BIGINT),
    CAST($4 AS TEXT)
RETURNING ordinal, bytes_through
