-- The simulated venue: its behaviour and its own book of orders.

-- name: all_venues
SELECT * FROM venues

-- name: venue_behaviour
SELECT * FROM venues WHERE broker = $1

-- name: venue_behaviours
SELECT venues.*
FROM @json_list($1)
@lookup_join venues ON venues.broker = items.value

-- name: put_venue
INSERT INTO venues (broker, mode, delay_ms, instruments, fill_percent, unasked)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (broker) DO UPDATE
SET
    mode = excluded.mode, delay_ms = excluded.delay_ms, instruments = excluded.instruments,
    fill_percent = excluded.fill_percent, unasked = excluded.unasked

-- name: one_venue_order
-- A range: see @primary_key.
SELECT * FROM venue_orders WHERE order_id BETWEEN $1 AND $1 ORDER BY order_id LIMIT 1

-- fragment: next_number (postgres)
-- Numbers may have gaps.
nextval('venue_execution_numbers')

-- fragment: next_number (sqlite)
(
    SELECT coalesce(max(numbered.execution_no), 0) + 1
    FROM venue_orders AS numbered
    WHERE numbered.broker = $2 AND numbered.execution_no > 0
)

-- fragment: insert_venue_order
INSERT INTO venue_orders AS taken (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us, filled_e4, execution_no
)

-- fragment: count_submission
-- An order that was sent before does not change.
ON CONFLICT (order_id) DO UPDATE SET submissions = taken.submissions + 1
RETURNING *

-- name: take_venue_order
@insert_venue_order
VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, CASE WHEN $7 = 'confirmed' THEN @next_number END)
@count_submission

-- name: take_venue_orders (postgres)
-- Many at once, each only once. Returns those that were sent before. The commit does not wait for the disk.
WITH sent AS (
    @insert_venue_order
    SELECT
        @item(0), @item(1), @item(2), @item(3), CAST(@item(4) AS BIGINT), 1, CAST(@item(5) AS BIGINT), @item(6), @item(7),
        CAST(@item(8) AS BIGINT), CAST(@item(9) AS BIGINT), CASE WHEN @item(6) = 'confirmed' THEN @next_number END
    FROM @json_rows($1)
    CROSS JOIN (SELECT set_config('synchronous_commit', 'off', TRUE)) AS this_commit
    ORDER BY 1
    @count_submission
)

SELECT * FROM sent WHERE submissions > 1

-- name: venue_state (sqlite)
-- Which of the orders in $1 were sent before, and the last number of each broker in $2, in one row.
SELECT
    (
        SELECT json_group_array(venue_orders.order_id)
        FROM @json_list($1)
        CROSS JOIN venue_orders ON venue_orders.order_id = items.value
    ) AS known,
    (
        SELECT
            json_group_array(
                json_array(
                    items.value,
                    (
                        SELECT coalesce(max(execution_no), 0)
                        FROM venue_orders
                        WHERE broker = items.value AND execution_no > 0
                    )
                )
            )
        FROM @json_list($2)
    ) AS numbers

-- name: insert_venue_orders (sqlite)
INSERT INTO venue_orders (
    order_id, broker, instrument, trade_type, quantity_e4, due_at_us, outcome, execution_id, executed_at_us,
    filled_e4, execution_no, submissions
)
SELECT *, 1 FROM (VALUES $rows)

-- name: decide_venue_order
-- With its broker: each index leads straight to the order, whichever a generic plan picks.
UPDATE venue_orders
SET outcome = $2, execution_id = $3, executed_at_us = $4, filled_e4 = $5
WHERE
    order_id = $1
    AND broker = (
        SELECT known.broker FROM venue_orders AS known
        WHERE known.order_id BETWEEN $1 AND $1 ORDER BY known.order_id LIMIT 1
    )
    AND outcome IS NULL

-- name: execute_by_hand
-- An earlier decision of the simulated venue does not change. Executions by the desk have no number: the same
-- transaction answers the hedge request.
@insert_venue_order
VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $6, NULL, 0)
ON CONFLICT (order_id) DO UPDATE
SET
    outcome = excluded.outcome, execution_id = excluded.execution_id,
    executed_at_us = excluded.executed_at_us, execution_no = excluded.execution_no
WHERE taken.outcome IS NULL

-- name: executions_page
-- By order id, because ids begin with their time.
SELECT * FROM venue_orders WHERE broker = $1 AND outcome IS NOT NULL ORDER BY order_id DESC LIMIT $2 OFFSET $3

-- name: count_executions
SELECT count(*) AS total FROM venue_orders WHERE broker = $1 AND outcome IS NOT NULL

-- name: unnumbered_executions
-- Executions of orders that were decided after they were accepted. The bound by 0 and the order are those of the
-- partial index.
SELECT order_id, broker
FROM venue_orders
WHERE outcome = 'confirmed' AND execution_no IS NULL AND executed_at_us >= 0
ORDER BY executed_at_us
LIMIT $1

-- name: number_execution
-- With its broker as in `decide_venue_order`; the outcome is a query for the same reason as @state.
UPDATE venue_orders
SET execution_no = @next_number
WHERE order_id = $1 AND broker = $2 AND outcome = (SELECT 'confirmed') AND execution_no IS NULL

-- name: venue_executions (sqlite)
-- The bound by 0 is that of the partial index.
SELECT *
FROM venue_orders
WHERE broker = $1 AND execution_no > $2 AND execution_no > 0
ORDER BY execution_no
LIMIT $3

-- name: venue_executions_of_brokers (postgres)
-- As `venue_executions` for many brokers at once: $1 has broker, number and limit of each; `place` says which one.
SELECT listed.*, wanted.place
FROM jsonb_array_elements(CAST($1 AS TEXT)::JSONB) WITH ORDINALITY AS wanted (item, place)
CROSS JOIN LATERAL (
    SELECT *
    FROM venue_orders
    WHERE
        broker = wanted.item ->> 0
        AND execution_no > CAST(wanted.item ->> 1 AS BIGINT)
        AND execution_no <= $2
        AND execution_no > 0
    ORDER BY execution_no
    LIMIT CAST(wanted.item ->> 2 AS BIGINT)
) AS listed
ORDER BY wanted.place, listed.execution_no

-- name: last_execution_no (postgres)
SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_no FROM venue_execution_numbers

-- name: venue_writers (postgres)
-- Transactions that may hold a number and are not visible yet: a writer locks the table before it takes a number, and
-- releases it after its commit is visible. By database: others may have tables with the same oid.
SELECT virtualtransaction AS writer
FROM pg_locks
WHERE
    locktype = 'relation'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation = 'venue_orders'::REGCLASS
    AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND granted
