SELECT count(*) AS total FROM unmatched_executions WHERE broker = $1 AND resolved_by IS NULL
