SELECT * FROM symbols WHERE broker = $1 AND code = $2
