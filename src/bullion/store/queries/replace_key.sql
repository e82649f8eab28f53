UPDATE keys SET replaced_by = $2, overlap_ends_at_us = $3 WHERE key_id = $1
