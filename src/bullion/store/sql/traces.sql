-- Decision traces, many in a row.

-- name: lock_trace_batches (postgres)
-- One writer at a time, until its transaction ends. With a sequence, batches would be committed out of order, and a
-- reader of those after an ordinal would miss some.
SELECT pg_advisory_xact_lock(5041216003)

-- name: lock_trace_batches (sqlite)
-- No-op: SQLite has one writer.
SELECT 1

-- name: insert_trace_batch
-- No row if it is stored already: the connection may have been lost during its commit.
INSERT INTO trace_batches (ordinal, from_ms, to_ms, bytes_through, traces)
SELECT
    coalesce((SELECT ordinal FROM trace_batches ORDER BY ordinal DESC LIMIT 1), 0) + 1,
    CAST($1 AS BIGINT),
    CAST($2 AS BIGINT),
    coalesce((SELECT bytes_through FROM trace_batches ORDER BY ordinal DESC LIMIT 1), 0) + CAST($3 AS BIGINT),
    CAST($4 AS TEXT)
WHERE NOT EXISTS (SELECT 1 FROM trace_batches WHERE to_ms = $2 AND from_ms = $1 AND traces = $4)
RETURNING ordinal, bytes_through

-- name: delete_old_trace_batches
-- Oldest first, a few at a time: every write deletes more rows than it adds.
DELETE FROM trace_batches
WHERE ordinal IN (
    SELECT oldest.ordinal
    FROM (SELECT ordinal, bytes_through FROM trace_batches ORDER BY ordinal LIMIT 20) AS oldest
    WHERE oldest.ordinal <= $1 OR oldest.bytes_through <= $2
)

-- name: trace_batches_at
SELECT traces FROM trace_batches WHERE to_ms >= $1 AND from_ms <= $1 ORDER BY to_ms

-- name: trace_batches_after
SELECT ordinal, traces FROM trace_batches WHERE ordinal > $1 AND from_ms < $2 ORDER BY ordinal LIMIT $3

-- name: trace_batches_between
-- Newest first: after an ordinal, and before another one if it is not null.
SELECT ordinal, traces
FROM trace_batches
WHERE ordinal > $1 AND (CAST($2 AS BIGINT) IS NULL OR ordinal < $2)
ORDER BY ordinal DESC
LIMIT $3

-- name: shorten_trace_batch
-- Only if it has not changed since it was read.
UPDATE trace_batches SET traces = $3 WHERE ordinal = $1 AND traces = $2

-- name: drop_trace_batch
DELETE FROM trace_batches WHERE ordinal = $1 AND traces = $2

-- name: trace_row_before
-- The newest row before an ordinal, or of all, without its traces.
SELECT ordinal, bytes_through
FROM trace_batches
WHERE CAST($1 AS BIGINT) IS NULL OR ordinal < $1
ORDER BY ordinal DESC
LIMIT 1

-- name: trace_rows
-- Newest first, only rows that contain both texts.
SELECT ordinal, traces
FROM trace_batches
WHERE ordinal >= $1 AND ordinal < $2 AND ($3 = '' OR @contains(traces, $3)) AND ($4 = '' OR @contains(traces, $4))
ORDER BY ordinal DESC

-- name: trace_rows_between
SELECT traces
FROM trace_batches
WHERE to_ms >= $1 AND from_ms <= $2 AND @contains(traces, $3)
ORDER BY to_ms
LIMIT $4

-- name: first_trace_row_from
-- About the first row with a decision at this time or later.
SELECT ordinal FROM trace_batches WHERE to_ms >= $1 ORDER BY to_ms LIMIT 1

-- name: oldest_trace_row
-- The oldest with traces: the archive leaves the newest row, without any.
SELECT ordinal, from_ms, bytes_through FROM trace_batches WHERE traces <> '[]' ORDER BY ordinal LIMIT 1
