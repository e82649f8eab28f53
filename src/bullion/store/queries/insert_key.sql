INSERT INTO keys (
    key_id, account_id, environment, name, scopes, secret_hash, allowed_addresses, created_at_us, expires_at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
