SELECT * FROM groups WHERE broker = $1 ORDER BY code LIMIT $2 OFFSET $3
