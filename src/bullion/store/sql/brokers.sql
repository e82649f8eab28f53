-- Brokers, their host names and their switches.

-- name: all_brokers
SELECT * FROM brokers ORDER BY tag

-- name: one_broker
SELECT * FROM brokers WHERE tag = $1

-- name: broker_place
-- Where the broker is, which does not change before this transaction ends.
SELECT moved_to FROM brokers WHERE tag = $1
@for_share(brokers)

-- name: broker_place_of_account
SELECT brokers.moved_to
FROM accounts
@lookup_join brokers ON brokers.tag = accounts.broker
WHERE accounts.id = $1
@for_share(brokers)

-- name: mark_moved
UPDATE brokers SET moved_store = $2, moved_to = $3, moved_at_us = $4 WHERE tag = $1

-- name: require_code_of_step
-- Code that does not know the step no longer works with this store.
UPDATE migrations SET oldest_level = number WHERE number = $1

-- name: moved_broker
SELECT moved_store, moved_to, moved_at_us FROM brokers WHERE tag = $1
@for_update

-- name: put_broker
-- A time that cannot be read is replaced.
INSERT INTO brokers (tag, name, created_at_us) VALUES ($1, $2, $3)
ON CONFLICT (tag) DO UPDATE SET
    name = excluded.name,
    created_at_us = CASE
        WHEN brokers.created_at_us BETWEEN 0 AND 253402300799999999 THEN brokers.created_at_us
        ELSE excluded.created_at_us
    END

-- name: all_hosts
SELECT broker, host FROM broker_hosts ORDER BY broker, host

-- name: hosts_of_broker
SELECT broker, host FROM broker_hosts WHERE broker = $1 ORDER BY host

-- name: insert_host
INSERT INTO broker_hosts (host, broker) VALUES ($1, $2)

-- name: drop_hosts
DELETE FROM broker_hosts WHERE broker = $1

-- name: all_switches
SELECT * FROM switches

-- name: one_switches
SELECT * FROM switches WHERE broker = $1

-- name: put_switches
INSERT INTO switches (
    broker, production, paused, halted, price_tolerance_percent_e4, trading_hours, reads_per_minute,
    orders_per_minute, orders_per_10_seconds, account_orders_per_minute, failed_auth_per_minute,
    price_move_percent_max_e4, refuse_crossed, public_rates_group, public_rates_title,
    quote_stream_interval_ms
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (broker) DO UPDATE SET
    production = excluded.production, paused = excluded.paused, halted = excluded.halted,
    price_tolerance_percent_e4 = excluded.price_tolerance_percent_e4, trading_hours = excluded.trading_hours,
    reads_per_minute = excluded.reads_per_minute, orders_per_minute = excluded.orders_per_minute,
    orders_per_10_seconds = excluded.orders_per_10_seconds,
    account_orders_per_minute = excluded.account_orders_per_minute,
    failed_auth_per_minute = excluded.failed_auth_per_minute,
    price_move_percent_max_e4 = excluded.price_move_percent_max_e4, refuse_crossed = excluded.refuse_crossed,
    public_rates_group = excluded.public_rates_group, public_rates_title = excluded.public_rates_title,
    quote_stream_interval_ms = excluded.quote_stream_interval_ms
