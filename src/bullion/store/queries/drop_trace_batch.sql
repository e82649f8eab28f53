DELETE FROM trace_batches WHERE ordinal = $1 AND traces = $2
