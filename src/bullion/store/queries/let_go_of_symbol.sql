UPDATE open_weights
SET buy_e4 = buy_e4 - $3, sell_e4 = sell_e4 - $4
WHERE book_id = $1 AND symbol_code = $2
