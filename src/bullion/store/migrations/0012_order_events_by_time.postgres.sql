-- oldest level: 1
-- outside a transaction
-- For the desk's lists by status: what the desk changed lately. Bookings, and the venue's answers to them, do not write
-- to this index.
DROP INDEX CONCURRENTLY IF EXISTS order_events_by_time;
CREATE INDEX CONCURRENTLY order_events_by_time ON order_events (at_us)
    WHERE status IN ('closing', 'closed', 'deleted');
