DELETE FROM stocks WHERE broker = $1 AND symbol_code = $2
