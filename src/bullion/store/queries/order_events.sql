SELECT status, at_us, actor, words
FROM order_events
WHERE book_id = $1 AND ordinal = $2
ORDER BY at_us, status
