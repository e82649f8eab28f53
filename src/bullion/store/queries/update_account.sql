UPDATE accounts
SET firm_name = $2, group_code = $3, active = $4, api_access = $5, production_trading = $6,
    scenarios = $7
WHERE id = $1
