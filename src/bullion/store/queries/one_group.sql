SELECT * FROM groups WHERE broker = $1 AND code = $2
