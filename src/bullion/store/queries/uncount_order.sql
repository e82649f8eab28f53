UPDATE order_counts
SET orders = orders - 1
WHERE
    book_id = $1 AND level = $2 AND block = $3 AND symbol_code = $4 AND trade_type = $5 AND status = $6
