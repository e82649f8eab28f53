-- No row: the desk keeps no stock of it.
UPDATE stocks SET weight_e4 = weight_e4 + $3 WHERE broker = $1 AND symbol_code = $2
