SELECT * FROM switches WHERE broker = $1
