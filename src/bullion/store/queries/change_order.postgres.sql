-- Guarded by the state it is in: of two changes at once, one finds it so. By its place in the table, which is found
-- as in `order_at`; whoever calls holds the book, so that it does not move meanwhile.
UPDATE orders
SET status = $4, deal_no = $5, close_price_paise = $6, realized_pnl_paise = $7, closed_at_us = $8
WHERE
    ctid = (
        SELECT found.ctid
        FROM orders AS found
        WHERE found.book_id = $1 AND found.ordinal BETWEEN $2 AND $2
        ORDER BY found.ordinal
        LIMIT 1
    )
    AND status = $3
RETURNING ordinal
