SELECT * FROM venues WHERE broker = $1
