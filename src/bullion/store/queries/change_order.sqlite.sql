-- Guarded by the state it is in: of two changes at once, one finds it so.
UPDATE orders
SET status = $4, deal_no = $5, close_price_paise = $6, realized_pnl_paise = $7, closed_at_us = $8
WHERE book_id = $1 AND ordinal = $2 AND status = $3
RETURNING ordinal
