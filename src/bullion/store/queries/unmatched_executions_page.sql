SELECT *
FROM unmatched_executions
WHERE broker = $1 AND resolved_by IS NULL
ORDER BY seen_at_us, execution_id
LIMIT $2 OFFSET $3
