-- The catalogue's row is held by now, so no other account is being made and the next id is ours.
INSERT INTO accounts (
    id, broker, login_id, firm_name, group_code, active, api_access, production_trading, scenarios, created_at_us
) VALUES ((SELECT coalesce(max(id), 0) + 1 FROM accounts), $1, $2, $3, $4, $5, $6, $7, $8, $9)
RETURNING id
