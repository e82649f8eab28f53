-- The first ordinal from $2 on whose order was made at $4 or later, $3 if there is none: times rise with the
-- ordinals, so halving the range finds it.
WITH RECURSIVE search (low, high) AS (
    SELECT CAST($2 AS BIGINT), CAST($3 AS BIGINT)
    UNION ALL
    SELECT
        CASE WHEN made.created_at_us < $4 THEN made.ordinal + 1 ELSE search.low END,
        CASE WHEN made.created_at_us < $4 THEN search.high ELSE made.ordinal END
    FROM search
    INNER JOIN orders AS made
        ON made.book_id = $1 AND made.ordinal = (search.low + search.high) / 2
    WHERE search.low < search.high
)

SELECT low AS ordinal FROM search WHERE low = high
