SELECT keys.*, accounts.broker, accounts.login_id, key_uses.last_used_at_us
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id
WHERE keys.key_id = $1
