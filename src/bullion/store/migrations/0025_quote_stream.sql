-- oldest level: 1
-- At most one price of a symbol in so many milliseconds goes to a client that streams them. Null: no client may.
ALTER TABLE switches ADD COLUMN quote_stream_interval_ms BIGINT CHECK (quote_stream_interval_ms > 0);
