-- oldest level: 1
-- The fineness of a symbol in ten-thousandths, 9990 for 999, and of an order's symbol when the order was recorded. The
-- hedge is measured in fine weight.
ALTER TABLE symbols ADD COLUMN fineness_e4 BIGINT NOT NULL DEFAULT 9990 CHECK (fineness_e4 BETWEEN 1 AND 10000);

ALTER TABLE hedge_requests ADD COLUMN fineness_e4 BIGINT NOT NULL DEFAULT 9990;

-- How much of each order the simulated venue fills, and whether it reports outcomes unasked instead of answering.
ALTER TABLE venues ADD COLUMN fill_percent BIGINT NOT NULL DEFAULT 100 CHECK (fill_percent BETWEEN 1 AND 100);

ALTER TABLE venues ADD COLUMN unasked BIGINT NOT NULL DEFAULT 0 CHECK (unasked IN (0, 1));

-- The weight that the simulated venue executed; null if it executed all or nothing.
ALTER TABLE venue_orders ADD COLUMN filled_e4 BIGINT;

-- The venue's deals for an order. `order_id` is the id that was sent: the order's own, or a child's. Quantity and price
-- are in the measure and currency of the venue's contract.
CREATE TABLE hedge_fills (
    broker TEXT NOT NULL,
    venue TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    quantity_e8 BIGINT NOT NULL CHECK (quantity_e8 > 0),
    price_e6 BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (broker, execution_id, venue)
);
CREATE INDEX hedge_fills_by_order ON hedge_fills (book_id, ordinal);

-- What the venue left unfilled of an order; 0 once all is filled. It is sent under the id of child number `child`. `stopped`: it is not sent
-- until the desk decides. `fine_mg_taken`: the fine weight that went into the hedge book instead.
CREATE TABLE hedge_rests (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    child BIGINT NOT NULL,
    quantity_e4 BIGINT NOT NULL CHECK (quantity_e4 >= 0),
    fine_mg BIGINT NOT NULL CHECK (fine_mg >= 0),
    stopped BIGINT NOT NULL CHECK (stopped IN (0, 1)),
    fine_mg_taken BIGINT NOT NULL DEFAULT 0 CHECK (fine_mg_taken >= 0),
    PRIMARY KEY (book_id, ordinal)
);
CREATE INDEX hedge_rests_stopped ON hedge_rests (book_id, ordinal) WHERE stopped = 1;

-- The final answers for a partly filled order: child 0 is the order itself. `quantity_e4` is what was filled under that
-- id, 0 if it was refused.
CREATE TABLE hedge_parts (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    child BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    quantity_e4 BIGINT NOT NULL CHECK (quantity_e4 >= 0),
    fine_mg BIGINT NOT NULL CHECK (fine_mg >= 0),
    at_us BIGINT NOT NULL,
    PRIMARY KEY (book_id, ordinal, child)
);

CREATE VIEW readable_hedge_fills AS
SELECT
    broker, venue, order_id, execution_id,
    quantity_e8 * 0.00000001 AS quantity,
    price_e6 * 0.000001 AS price,
    to_timestamp(at_us / 1000000.0) AS at
FROM hedge_fills;

CREATE VIEW readable_hedge_rests AS
SELECT
    hedges.broker, hedges.order_id, rests.child,
    rests.quantity_e4 * 0.0001 AS quantity,
    rests.fine_mg * 0.001 AS fine_grams,
    rests.fine_mg_taken * 0.001 AS fine_grams_taken,
    rests.stopped = 1 AS waits_for_desk
FROM hedge_rests AS rests
JOIN hedge_requests AS hedges ON hedges.book_id = rests.book_id AND hedges.ordinal = rests.ordinal;

CREATE VIEW readable_hedge_parts AS
SELECT
    order_id, execution_id,
    quantity_e4 * 0.0001 AS quantity,
    fine_mg * 0.001 AS fine_grams,
    to_timestamp(at_us / 1000000.0) AS at
FROM hedge_parts;
