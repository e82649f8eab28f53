-- How many orders of a kind the books of a broker, or of one of its accounts, have: from the counts alone. Those that
-- the API hides are counted apart from the others, and the desk sees both.
SELECT CAST(coalesce(sum(counts.orders), 0) AS BIGINT) AS total
FROM accounts
INNER JOIN books ON books.account_id = accounts.id
INNER JOIN order_counts AS counts ON counts.book_id = books.id AND counts.level = 1
WHERE
    accounts.broker = $1
    AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
    AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)
    AND (CAST($4 AS TEXT) IS NULL OR counts.symbol_code = $4)
    AND (CAST($5 AS TEXT) IS NULL OR counts.status IN ($5, CAST($5 AS TEXT) || ' elsewhere'))
