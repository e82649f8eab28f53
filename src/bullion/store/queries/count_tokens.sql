SELECT count(*) AS total FROM tokens WHERE broker = $1
