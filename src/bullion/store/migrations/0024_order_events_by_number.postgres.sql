-- oldest level: 1
-- outside a transaction
-- An account's events by their number.
DROP INDEX CONCURRENTLY IF EXISTS order_events_by_number;
CREATE INDEX CONCURRENTLY order_events_by_number ON order_events (book_id, number) WHERE number IS NOT NULL;
