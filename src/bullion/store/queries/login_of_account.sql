SELECT login_id FROM accounts WHERE id = $1
