SELECT traces FROM trace_batches WHERE to_ms >= $1 AND from_ms <= $1 ORDER BY to_ms
