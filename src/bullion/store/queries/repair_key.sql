-- A key that cannot be read becomes a revoked one, which nobody has the secret of.
UPDATE keys
SET scopes = '', allowed_addresses = '', secret_hash = $2, created_at_us = $3, expires_at_us = NULL,
    replaced_by = NULL, overlap_ends_at_us = NULL, revoked_at_us = $3
WHERE key_id = $1
