-- How many orders of a kind the books of a broker, or of one of its accounts, have: from the counts alone. Those that
-- the API hides are counted apart from the others, and the desk sees both. Each book is asked by itself,
-- with OFFSET 0 and accounts as lists of one: a plan made on an empty table might else begin with all counts.
SELECT CAST(coalesce(sum(counts.orders), 0) AS BIGINT) AS total
FROM accounts
INNER JOIN books ON books.account_id = ANY (ARRAY[accounts.id])
CROSS JOIN LATERAL (SELECT * FROM order_counts WHERE book_id = books.id AND level = 1 OFFSET 0) AS counts
WHERE
    accounts.broker = $1
    AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
    AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)
    AND (CAST($4 AS TEXT) IS NULL OR counts.symbol_code = $4)
    AND (CAST($5 AS TEXT) IS NULL OR counts.status IN ($5, CAST($5 AS TEXT) || ' elsewhere'))
