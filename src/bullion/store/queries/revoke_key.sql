UPDATE keys SET revoked_at_us = $2 WHERE key_id = $1
