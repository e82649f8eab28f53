-- How many orders of a kind the books of a broker, or of one of its accounts, have: from the counts, and one by one
-- where no block is summed. Those that the API hides are counted apart from the others, and the desk sees both. Each
-- book is asked by itself, with OFFSET 0, in the order of ordinals, and with accounts as lists of one: a plan made on an
-- empty table might else begin with all counts or orders.
SELECT CAST(summed.orders + unsummed.orders AS BIGINT) AS total
FROM (
    SELECT coalesce(sum(counts.orders), 0) AS orders
    FROM accounts
    INNER JOIN books ON books.account_id = ANY (ARRAY[accounts.id])
    CROSS JOIN LATERAL (
        SELECT * FROM block_counts WHERE book_id = books.id AND level = 3 AND symbol_code <> '' OFFSET 0
    ) AS counts
    WHERE
        accounts.broker = $1
        AND books.order_count > books.archived_count
        AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
        AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)
        AND (CAST($4 AS TEXT) IS NULL OR counts.symbol_code = $4)
        AND (CAST($5 AS TEXT) IS NULL OR counts.status IN ($5, CAST($5 AS TEXT) || ' elsewhere'))
) AS summed
CROSS JOIN (
    SELECT count(*) AS orders
    FROM accounts
    INNER JOIN books ON books.account_id = ANY (ARRAY[accounts.id])
    CROSS JOIN LATERAL (
        SELECT orders.symbol_code, orders.status
        FROM orders
        WHERE
            orders.book_id = books.id
            AND orders.ordinal BETWEEN books.unsummed_from AND books.order_count
        ORDER BY orders.ordinal
    ) AS orders
    WHERE
        accounts.broker = $1
        AND books.order_count > books.archived_count
        AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
        AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.symbol_code = $4)
        AND (CAST($5 AS TEXT) IS NULL OR orders.status = $5)
) AS unsummed
