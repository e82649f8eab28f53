-- What the venue has covered beyond our orders, per metal.
SELECT metal, CAST(sum(excess_e4) AS BIGINT) AS excess_e4, count(*) AS executions
FROM unmatched_executions
WHERE broker = $1 AND resolved_by IS NULL AND metal IS NOT NULL
GROUP BY metal
