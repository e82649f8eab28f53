-- The keys of these ids, each with its account. Where there is no such key, the next one comes in its place: to
-- look for a key that there is not is the same work as for one that there is.
SELECT
    keys.*,
    accounts.id, accounts.broker, accounts.login_id, accounts.firm_name, accounts.group_code, accounts.active,
    accounts.api_access, accounts.production_trading, accounts.scenarios,
    accounts.created_at_us AS account_created_at_us
FROM json_each($1) AS asked
CROSS JOIN keys ON keys.key_id = (
    SELECT min(nearest.key_id) FROM keys AS nearest WHERE nearest.key_id >= asked.value
)
CROSS JOIN accounts ON accounts.id = keys.account_id
