-- The keys of these ids, each with its account. Where there is no such key, the next one comes in its place: to
-- look for a key that there is not is the same work as for one that there is.
SELECT
    keys.*,
    accounts.id, accounts.broker, accounts.login_id, accounts.firm_name, accounts.group_code, accounts.active,
    accounts.api_access, accounts.production_trading, accounts.scenarios,
    accounts.created_at_us AS account_created_at_us
FROM jsonb_array_elements_text($1::JSONB) AS asked (key_id)
CROSS JOIN LATERAL (
    SELECT * FROM keys AS nearest WHERE nearest.key_id >= asked.key_id ORDER BY nearest.key_id LIMIT 1
) AS keys
INNER JOIN accounts ON accounts.id = keys.account_id
