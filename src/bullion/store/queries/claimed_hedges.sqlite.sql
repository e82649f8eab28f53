SELECT orders.*, hedges.broker, hedges.instrument, hedges.took_stock, hedges.tries
FROM hedge_requests AS hedges
INNER JOIN orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
WHERE hedges.state = 'waiting' AND hedges.holder = $1 AND hedges.due_at_us = $2
