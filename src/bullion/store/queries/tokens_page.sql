SELECT * FROM tokens WHERE broker = $1 ORDER BY created_at_us DESC, token_id LIMIT $2 OFFSET $3
