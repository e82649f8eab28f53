SELECT * FROM symbols WHERE broker = $1 ORDER BY code LIMIT $2 OFFSET $3
