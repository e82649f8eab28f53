-- oldest level: 1
-- A broker that was moved to another store, see `bullion store copy --broker`: nothing is recorded for it here any more.
-- `moved_store` is the id of the other store, `moved_to` its address without a password. Null: the broker is here.
ALTER TABLE brokers ADD COLUMN moved_store TEXT;

ALTER TABLE brokers ADD COLUMN moved_to TEXT;

ALTER TABLE brokers ADD COLUMN moved_at_us BIGINT;
