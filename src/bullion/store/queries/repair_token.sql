-- A token that cannot be read becomes a deleted one, which nobody has the secret of.
UPDATE tokens SET secret_hash = $2, created_at_us = $3, deleted_at_us = $3 WHERE token_id = $1
