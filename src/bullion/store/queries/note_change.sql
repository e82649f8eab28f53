INSERT INTO changes (version, kind, broker, subject)
SELECT version, $1, $2, $3 FROM catalogue WHERE one = 1
ON CONFLICT DO NOTHING
