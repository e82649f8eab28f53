-- As `order_kinds`, but of the blocks that are summed only what is from ordinal $12 on. It stands in a small block that
-- ends at $13, of which the orders are counted one by one; behind it lie whole ones, from a first to a last on each level:
-- small ones from $6 to $7, middle ones from $8 to $9, and large ones from $10 to $11. Each level is asked for by itself:
-- by the whole of its key, also by a plan made on an empty table.
WITH kinds AS MATERIALIZED (
    @order_kinds
)

SELECT
    kinds.status,
    kinds.symbol_code,
    kinds.trade_type,
    kinds.unsummed,
    CASE
        WHEN kinds.summed = 0 THEN 0
        ELSE
            CAST(
                coalesce(
                    (
                        SELECT sum(counts.orders)
                        FROM block_counts AS counts
                        WHERE
                            counts.book_id = $1
                            AND counts.level = 0
                            AND counts.symbol_code = kinds.symbol_code
                            AND counts.trade_type = kinds.trade_type
                            AND counts.status = kinds.status
                            AND counts.block BETWEEN $6 AND $7
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
                            AND counts.symbol_code = kinds.symbol_code
                            AND counts.trade_type = kinds.trade_type
                            AND counts.status = kinds.status
                            AND counts.block BETWEEN $8 AND $9
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
                            AND counts.symbol_code = kinds.symbol_code
                            AND counts.trade_type = kinds.trade_type
                            AND counts.status = kinds.status
                            AND counts.block BETWEEN $10 AND $11
                    ),
                    0
                )
                AS BIGINT
            )
            + (
                -- The last two conditions hold for every order: they name the index of the kinds, on either engine.
                SELECT count(*)
                FROM (
                    SELECT orders.ordinal
                    FROM orders
                    WHERE
                        orders.book_id = $1
                        AND orders.status = kinds.status
                        AND orders.symbol_code = kinds.symbol_code
                        AND orders.trade_type = kinds.trade_type
                        AND orders.ordinal BETWEEN $12 AND $13
                        AND (orders.status NOT IN ('pending', 'rejected') OR orders.source = 'api')
                        AND orders.metal <> ''
                        AND orders.book_id > 0
                    ORDER BY orders.ordinal
                ) AS newer
            )
    END AS summed
FROM kinds
