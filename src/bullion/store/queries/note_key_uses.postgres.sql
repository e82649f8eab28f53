-- For all keys in $1, in their order: nodes that note the same ones must not wait for each other in a circle.
-- LIMIT: each is looked up by itself, whatever a plan made on an empty table thinks is quicker.
INSERT INTO key_uses (key_id, last_used_at_us)
SELECT found.key_id, $2::BIGINT
FROM jsonb_array_elements_text($1) AS used (key_id)
CROSS JOIN LATERAL (SELECT keys.key_id FROM keys WHERE keys.key_id = used.key_id LIMIT 1) AS found
ON CONFLICT (key_id) DO UPDATE SET last_used_at_us = excluded.last_used_at_us
WHERE key_uses.last_used_at_us < excluded.last_used_at_us
