SELECT weight_e4 FROM stocks WHERE broker = $1 AND symbol_code = $2 FOR UPDATE
