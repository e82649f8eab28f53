UPDATE unmatched_executions
SET resolved_by = $4, resolution = $5
WHERE broker = $1 AND execution_id = $2 AND venue = $3 AND resolved_by IS NULL
RETURNING execution_id
