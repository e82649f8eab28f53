INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words) VALUES ($1, $2, $3, $4, $5, $6)
