-- As the store sees it.
SELECT lower(CAST($1 AS TEXT)) AS text
