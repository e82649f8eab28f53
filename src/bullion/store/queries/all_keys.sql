SELECT keys.*, accounts.broker
FROM keys
JOIN accounts ON accounts.id = keys.account_id
