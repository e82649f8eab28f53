-- As `shown_orders`, but of the blocks that are summed only what is from ordinal $9 on; $3 to $10 are $6 to $13 of
-- `order_kinds_since`.
SELECT
    shown.unsummed,
    CASE
        WHEN shown.summed = 0 THEN 0
        ELSE
            CAST(
                coalesce(
                    (
                        SELECT sum(counts.orders)
                        FROM block_counts AS counts
                        WHERE
                            counts.book_id = $1
                            AND counts.level = 0
                            AND counts.symbol_code = ''
                            AND counts.trade_type = ''
                            AND counts.status = 'shown'
                            AND counts.block BETWEEN $3 AND $4
                    ),
                    0
                )
                + coalesce(
                    (
                        SELECT sum(counts.orders)
                        FROM block_counts AS counts
                        WHERE
                            counts.book_id = $1
                            AND counts.level = 1
                            AND counts.symbol_code = ''
                            AND counts.trade_type = ''
                            AND counts.status = 'shown'
                            AND counts.block BETWEEN $5 AND $6
                    ),
                    0
                )
                + coalesce(
                    (
                        SELECT sum(counts.orders)
                        FROM block_counts AS counts
                        WHERE
                            counts.book_id = $1
                            AND counts.level = 2
                            AND counts.symbol_code = ''
                            AND counts.trade_type = ''
                            AND counts.status = 'shown'
                            AND counts.block BETWEEN $7 AND $8
                    ),
                    0
                )
                AS BIGINT
            )
            + (
                SELECT count(*)
                FROM (
                    SELECT source, status
                    FROM orders
                    WHERE book_id = $1 AND ordinal BETWEEN $9 AND $10
                    ORDER BY ordinal
                ) AS newer
                WHERE status <> 'deleted' AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
            )
    END AS summed
FROM (
    @shown_orders
) AS shown
