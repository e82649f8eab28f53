INSERT INTO changes (version, kind, broker, subject)
SELECT version, $1, $2, $3 FROM catalogue
ON CONFLICT DO NOTHING
