-- oldest level: 1
-- An account's events by their number.
CREATE INDEX order_events_by_number ON order_events (book_id, number) WHERE number IS NOT NULL;
