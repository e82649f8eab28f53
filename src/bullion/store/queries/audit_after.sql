SELECT * FROM audit WHERE broker = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3
