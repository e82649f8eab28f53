-- Executions of the venue are compared with our requests one after the other, in an order that the venue keeps.

-- The place of an execution in the simulated venue's list. 0: not listed, for our own books have it already. Null: not
-- numbered yet, as of an order that is undecided, or was written by a node of the version before; `number_execution`
-- makes up for it.
CREATE SEQUENCE venue_execution_numbers;

-- With a default the rows that there are need not be written anew; later ones have none.
ALTER TABLE venue_orders ADD COLUMN execution_no BIGINT DEFAULT 0;
ALTER TABLE venue_orders ALTER COLUMN execution_no DROP DEFAULT;

-- What our requests do not know is listed: late fills that were made before this step become breaks.
UPDATE venue_orders
SET execution_no = NULL
WHERE
    outcome IS NULL
    OR (
        outcome = 'confirmed'
        AND NOT EXISTS (
            SELECT 1
            FROM hedge_requests
            WHERE
                hedge_requests.order_id = venue_orders.order_id
                AND hedge_requests.execution_id = venue_orders.execution_id
        )
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
    quantity_e4 * 0.0001 AS quantity,
    excess_e4 * 0.0001 AS excess,
    to_timestamp(executed_at_us / 1000000.0) AS executed_at,
    to_timestamp(seen_at_us / 1000000.0) AS seen_at,
    resolved_by,
    resolution
FROM unmatched_executions;
