-- By how much what clients hold is more than what the venue has covered, per metal, from what is not in order: orders
-- that wait, and breaks. A fill of what is no deal, or a second one, covers too much; a refused deal is not covered.
SELECT
    orders.metal,
    CAST(sum(
        (CASE WHEN orders.trade_type = 'buy' THEN orders.quantity_e4 ELSE -orders.quantity_e4 END)
        * (
            CASE
                WHEN gaps.state = 'broken' AND gaps.outcome = 'confirmed' THEN -1
                WHEN gaps.state = 'broken' AND orders.status IN ('open', 'closing') THEN 1
                WHEN gaps.state = 'waiting' AND orders.status = 'pending' THEN 1
                ELSE 0
            END
        )
    ) AS BIGINT) AS gap_e4,
    CAST(sum(CASE WHEN gaps.state = 'waiting' THEN 1 ELSE 0 END) AS BIGINT) AS waiting,
    CAST(sum(CASE WHEN gaps.state = 'broken' THEN 1 ELSE 0 END) AS BIGINT) AS breaks
FROM (
    SELECT book_id, ordinal, state, outcome
    FROM hedge_requests
    WHERE broker = $1 AND state = 'waiting'
    UNION ALL
    SELECT book_id, ordinal, state, outcome
    FROM hedge_requests
    WHERE broker = $1 AND state = 'broken'
) AS gaps
INNER JOIN orders ON orders.book_id = gaps.book_id AND orders.ordinal = gaps.ordinal
GROUP BY orders.metal
