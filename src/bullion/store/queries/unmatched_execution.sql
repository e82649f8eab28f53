SELECT *
FROM unmatched_executions
WHERE broker = $1 AND execution_id = $2
ORDER BY CASE WHEN resolved_by IS NULL THEN 0 ELSE 1 END, seen_at_us
LIMIT 1
