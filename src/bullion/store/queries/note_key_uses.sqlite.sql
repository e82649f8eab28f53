INSERT INTO key_uses (key_id, last_used_at_us)
SELECT keys.key_id, $2
FROM json_each($1) AS used
CROSS JOIN keys ON keys.key_id = used.value
WHERE true
ON CONFLICT (key_id) DO UPDATE SET last_used_at_us = excluded.last_used_at_us
WHERE key_uses.last_used_at_us < excluded.last_used_at_us
