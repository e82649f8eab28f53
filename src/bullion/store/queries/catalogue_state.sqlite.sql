-- The catalogue's version, and the clock of the machine the store is on (microseconds, from milliseconds).
SELECT
    version,
    oldest_change,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000000
        + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000 AS clock_us
FROM catalogue
