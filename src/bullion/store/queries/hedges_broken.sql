SELECT
    (SELECT count(*) FROM hedge_requests WHERE state = 'broken')
    + (SELECT count(*) FROM unmatched_executions WHERE resolved_by IS NULL) AS breaks
