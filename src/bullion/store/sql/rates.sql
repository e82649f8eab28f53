-- Ticks and duties.

-- name: rates_version
SELECT version FROM rates WHERE one = 1

-- name: move_rates_version (postgres)
-- The listener $1 is notified when the transaction commits.
UPDATE rates SET version = version + 1 WHERE one = 1 RETURNING version, pg_notify('bullion_catalogue', $1)

-- name: move_rates_version (sqlite)
UPDATE rates SET version = version + 1 WHERE one = 1 RETURNING version

-- fragment: ticks
SELECT broker, instrument, bid_e6, ask_e6, at_us, moved_at_us, pinned_until_us FROM ticks

-- name: all_ticks
@ticks
ORDER BY broker, instrument

-- name: one_tick
@ticks
WHERE broker = $1 AND instrument = $2

-- name: ticks_of_broker
@ticks
WHERE broker IN ('', $1)
ORDER BY instrument

-- name: ticks_since
-- With the version that they lead to. One row without a tick if there is none.
SELECT
    rates.version, ticks.broker, ticks.instrument, ticks.bid_e6, ticks.ask_e6, ticks.at_us, ticks.moved_at_us,
    ticks.pinned_until_us
FROM rates
LEFT JOIN ticks ON ticks.version > $1
WHERE rates.one = 1

-- name: put_ticks
-- A tick older than the stored one is ignored, unless the stored one is later than $4: then it is from before the clock was
-- set back, or cannot be read because of its times.
INSERT INTO ticks (broker, instrument, bid_e6, ask_e6, at_us, moved_at_us, version, pinned_until_us)
SELECT
    $1, @item(0), CAST(@item(1) AS BIGINT), CAST(@item(2) AS BIGINT), CAST(@item(3) AS BIGINT), CAST(@item(3) AS BIGINT),
    CAST($2 AS BIGINT), CAST(@item(4) AS BIGINT)
FROM @json_rows($3)
WHERE true
ON CONFLICT (broker, instrument) DO UPDATE
SET
    bid_e6 = excluded.bid_e6, ask_e6 = excluded.ask_e6, at_us = excluded.at_us, version = excluded.version,
    pinned_until_us = excluded.pinned_until_us,
    moved_at_us = CASE
        WHEN
            ticks.bid_e6 = excluded.bid_e6
            AND ticks.ask_e6 = excluded.ask_e6
            AND ticks.moved_at_us BETWEEN 0 AND excluded.at_us
            THEN ticks.moved_at_us
        ELSE excluded.at_us
    END
WHERE excluded.at_us >= ticks.at_us OR ticks.at_us > $4

-- fragment: duties
SELECT broker, name, from_date, rupees_paise FROM duties

-- name: all_duties
@duties
ORDER BY broker, name, from_date

-- name: duties_of_broker
@duties
WHERE broker = $1
ORDER BY name, from_date

-- name: one_duty
@duties
WHERE broker = $1 AND name = $2
ORDER BY from_date

-- name: insert_duty
INSERT INTO duties (broker, name, from_date, rupees_paise) VALUES ($1, $2, $3, $4)

-- name: drop_duty
DELETE FROM duties WHERE broker = $1 AND name = $2

-- name: orders_priced_by_duty
-- The first $6 production orders of a broker with an id (and so a time) from $1 up to $2, and a price with the component
-- that the pattern $3 describes. $5 is a JSON list of the symbols to leave out.
SELECT
    orders.id,
    orders.deal_no
FROM orders
WHERE
    orders.id >= $1
    AND orders.id < $2
    AND orders.book_id % 2 = 1
    AND orders.price_anatomy LIKE $3
    AND replace(CAST($5 AS TEXT), '"' || orders.symbol_code || '"', '') = CAST($5 AS TEXT)
    AND (SELECT accounts.broker FROM accounts WHERE accounts.id = orders.book_id / 2) = $4
ORDER BY orders.id
LIMIT $6
