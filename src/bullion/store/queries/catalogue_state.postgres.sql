-- The catalogue's version, and the clock of the machine the store is on.
SELECT
    version,
    oldest_change,
    CAST(extract(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS clock_us
FROM catalogue
