-- Executions of the venue are compared with our requests one after the other, in an order that the venue keeps.

-- The place of an execution in the simulated venue's list. 0: not listed, for our own books have it already. Null: not
-- numbered yet, as of an order that is undecided, or was written by a node of the version before; `number_execution`
-- makes up for it.
ALTER TABLE venue_orders ADD COLUMN execution_no BIGINT;

-- What our requests do not know is listed: late fills that were made before this step become breaks.
UPDATE venue_orders
SET execution_no = 0
WHERE
    outcome = 'refused'
    OR order_id || ' ' || execution_id IN (
        SELECT order_id || ' ' || execution_id FROM hedge_requests WHERE execution_id IS NOT NULL
    );

CREATE INDEX venue_orders_by_number ON venue_orders (broker, execution_no) WHERE execution_no > 0;
CREATE INDEX venue_orders_unnumbered ON venue_orders (executed_at_us)
    WHERE outcome = 'confirmed' AND execution_no IS NULL;

-- Executions that no order of ours accounts for: of an unknown order, a second one of an order, or one whose weight or
-- side differs from the order's. `excess_e4` is what such an execution covers beyond its order, above zero for a buy.
-- `metal` is null where nothing of ours is hedged in the instrument.
CREATE TABLE unmatched_executions (
    broker TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    venue TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('unknown_order', 'second_execution', 'differs')),
    order_id TEXT NOT NULL,
    metal TEXT CHECK (metal IN ('gold', 'silver')),
    instrument TEXT NOT NULL,
    trade_type TEXT NOT NULL CHECK (trade_type IN ('buy', 'sell')),
    quantity_e4 BIGINT NOT NULL,
    excess_e4 BIGINT NOT NULL,
    executed_at_us BIGINT NOT NULL,
    seen_at_us BIGINT NOT NULL,
    resolved_by TEXT,
    resolution TEXT,
    PRIMARY KEY (broker, execution_id, venue)
);

CREATE INDEX unmatched_executions_open ON unmatched_executions (broker, seen_at_us, execution_id)
    WHERE resolved_by IS NULL;

-- How far the executions of each venue were compared with our requests.
CREATE TABLE execution_cursors (
    broker TEXT NOT NULL,
    venue TEXT NOT NULL,
    position TEXT NOT NULL,
    PRIMARY KEY (broker, venue)
);

-- For people who look into the store.
CREATE VIEW readable_unmatched_executions AS
SELECT
    broker,
    venue,
    execution_id,
    reason,
    order_id,
    metal,
    instrument,
    trade_type,
    printf('%d.%04d', quantity_e4 / 10000, quantity_e4 % 10000) AS quantity,
    printf(
        '%s%d.%04d', CASE WHEN excess_e4 < 0 THEN '-' ELSE '' END, abs(excess_e4) / 10000, abs(excess_e4) % 10000
    ) AS excess,
    strftime('%Y-%m-%d %H:%M:%S', executed_at_us / 1000000, 'unixepoch') || printf('.%06d+00', executed_at_us % 1000000) AS executed_at,
    strftime('%Y-%m-%d %H:%M:%S', seen_at_us / 1000000, 'unixepoch') || printf('.%06d+00', seen_at_us % 1000000) AS seen_at,
    resolved_by,
    resolution
FROM unmatched_executions;
