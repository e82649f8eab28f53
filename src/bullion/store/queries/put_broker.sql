INSERT INTO brokers (tag, name, created_at_us) VALUES ($1, $2, $3)
ON CONFLICT (tag) DO UPDATE SET name = excluded.name
