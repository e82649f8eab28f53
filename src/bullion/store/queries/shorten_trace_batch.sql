-- Only as it was read.
UPDATE trace_batches SET traces = $3 WHERE ordinal = $1 AND traces = $2
