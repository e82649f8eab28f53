SELECT count(*) AS total FROM groups WHERE broker = $1
