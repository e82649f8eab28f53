INSERT INTO deployment (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING
