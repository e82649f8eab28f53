INSERT INTO key_uses (key_id, last_used_at_us)
SELECT key_id, CAST($2 AS BIGINT) FROM keys WHERE key_id = $1
ON CONFLICT (key_id) DO UPDATE SET last_used_at_us = excluded.last_used_at_us
WHERE key_uses.last_used_at_us < excluded.last_used_at_us
