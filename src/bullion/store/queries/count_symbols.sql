SELECT count(*) AS total FROM symbols WHERE broker = $1
