INSERT INTO tokens (token_id, broker, name, role, secret_hash, created_at_us)
VALUES ($1, $2, $3, $4, $5, $6)
