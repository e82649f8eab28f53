SELECT keys.*, accounts.broker, accounts.login_id, key_uses.last_used_at_us
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id
WHERE keys.account_id = $1
ORDER BY keys.created_at_us DESC, keys.key_id
LIMIT $2 OFFSET $3
