-- oldest level: 1
-- outside a transaction
-- An account's events by their number.
DROP INDEX CONCURRENTLY IF EXISTS order_events_by_number;
CREATE INDEX CONCURRENTLY order_events_by_number ON order_events (book_id, number) WHERE number IS NOT NULL;

-- Where the numbers begin in books that have orders already. Not in the step before, which locks the books.
INSERT INTO account_events (book_id, number, orders_through, kind, at_us, detail)
SELECT id, order_count, order_count, 'start', last_order_at_us, '{}'
FROM books
WHERE order_count > 0 AND NOT EXISTS (SELECT 1 FROM account_events WHERE account_events.book_id = books.id);
