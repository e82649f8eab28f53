-- oldest level: 1
-- For the desk's lists by status: what the desk changed lately. Bookings, and the venue's answers to them, do not write
-- to this index.
CREATE INDEX order_events_by_time ON order_events (at_us)
    WHERE status IN ('closing', 'closed', 'deleted');
