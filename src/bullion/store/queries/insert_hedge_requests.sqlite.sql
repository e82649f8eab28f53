INSERT INTO hedge_requests (book_id, ordinal, order_id, broker, instrument, took_stock, holder, due_at_us, venue)
VALUES $rows
