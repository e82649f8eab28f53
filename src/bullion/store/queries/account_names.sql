-- Some accounts behind a login, with their names in lower case as the store sees it.
SELECT id, login_id, lower(login_id) AS login, lower(coalesce(firm_name, '')) AS firm
FROM accounts
WHERE broker = $1 AND login_id > $2
ORDER BY login_id
LIMIT $3
