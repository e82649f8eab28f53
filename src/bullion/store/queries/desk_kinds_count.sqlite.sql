-- How many orders of a kind the books of a broker, or of one of its accounts, have: from the counts, and one by one
-- where no block is summed. Those that the API hides are counted apart from the others, and the desk sees both.
SELECT CAST(summed.orders + unsummed.orders AS BIGINT) AS total
FROM (
    SELECT coalesce(sum(counts.orders), 0) AS orders
    FROM accounts
    INNER JOIN books ON books.account_id = accounts.id
    INNER JOIN block_counts AS counts ON counts.book_id = books.id AND counts.level = 3 AND counts.symbol_code <> ''
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
    INNER JOIN books ON books.account_id = accounts.id
    INNER JOIN orders
        ON
            orders.book_id = books.id
            AND orders.ordinal BETWEEN books.unsummed_from AND books.order_count
    WHERE
        accounts.broker = $1
        AND books.order_count > books.archived_count
        AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
        AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)
        AND (CAST($4 AS TEXT) IS NULL OR orders.symbol_code = $4)
        AND (CAST($5 AS TEXT) IS NULL OR orders.status = $5)
) AS unsummed
