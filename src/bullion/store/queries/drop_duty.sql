DELETE FROM duties WHERE broker = $1 AND name = $2
