-- `venue_executions` for many brokers at once: $1 is a JSON array of broker, number and limit; `place` says of which one
-- a row is.
SELECT listed.*, wanted.place
FROM jsonb_array_elements(CAST($1 AS TEXT)::JSONB) WITH ORDINALITY AS wanted (item, place)
CROSS JOIN LATERAL (
    SELECT *
    FROM venue_orders
    WHERE
        broker = wanted.item ->> 0
        AND execution_no > CAST(wanted.item ->> 1 AS BIGINT)
        AND execution_no <= $2
        AND execution_no > 0
    ORDER BY execution_no
    LIMIT CAST(wanted.item ->> 2 AS BIGINT)
) AS listed
ORDER BY wanted.place, listed.execution_no
