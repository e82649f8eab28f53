-- The same where there are few: the counts know in which blocks of which books they are, so that nobody else's
-- orders are read, but for those of blocks that are not summed. $8 to $10: broker, environment, login; $11: how many
-- ordinals a block has. Orders that the API hides are counted apart, so a place may be named twice.
WITH places AS MATERIALIZED (
    SELECT DISTINCT
        counts.book_id,
        counts.block * $11 AS low,
        counts.block * $11 + $11 - 1 AS high,
        counts.symbol_code,
        counts.trade_type,
        replace(counts.status, ' elsewhere', '') AS status,
        accounts.login_id,
        books.archived_count
    FROM accounts
    INNER JOIN books ON books.account_id = accounts.id
    INNER JOIN block_counts AS counts
        ON counts.book_id = books.id AND counts.level = 0 AND counts.symbol_code <> ''
    WHERE
        accounts.broker = $8
        AND books.order_count > books.archived_count
        AND (CAST($9 AS TEXT) IS NULL OR books.environment = $9)
        AND (CAST($10 AS TEXT) IS NULL OR accounts.login_id = $10)
        AND (CAST($1 AS TEXT) IS NULL OR counts.symbol_code = $1)
        AND (CAST($2 AS TEXT) IS NULL OR counts.status IN ($2, CAST($2 AS TEXT) || ' elsewhere'))
        AND counts.orders > 0
)

SELECT *
FROM (
    SELECT orders.*, places.login_id, places.archived_count
    FROM places
    INNER JOIN orders
        ON
            orders.book_id = places.book_id
            AND orders.ordinal BETWEEN places.low AND places.high
            AND orders.symbol_code = places.symbol_code
            AND orders.trade_type = places.trade_type
            AND orders.status = places.status
    WHERE
        orders.ordinal > places.archived_count
        AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
        AND orders.id >= $5
        AND orders.id < $6
        AND orders.created_at_us >= $7
    UNION ALL
    SELECT orders.*, accounts.login_id, books.archived_count
    FROM accounts
    INNER JOIN books ON books.account_id = accounts.id
    INNER JOIN orders
        ON
            orders.book_id = books.id
            AND orders.ordinal BETWEEN books.unsummed_from AND books.order_count
    WHERE
        accounts.broker = $8
        AND books.order_count > books.archived_count
        AND (CAST($9 AS TEXT) IS NULL OR books.environment = $9)
        AND (CAST($10 AS TEXT) IS NULL OR accounts.login_id = $10)
        AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
        AND orders.id >= $5
        AND orders.id < $6
        AND orders.created_at_us >= $7
        AND (CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
        AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
) AS few
ORDER BY created_at_us DESC, ordinal DESC, id DESC
LIMIT $12 OFFSET $13
