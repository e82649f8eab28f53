SELECT id, login_id, lower(login_id) AS login, lower(coalesce(firm_name, '')) AS firm
FROM accounts
WHERE broker = $1 AND login_id = $2
