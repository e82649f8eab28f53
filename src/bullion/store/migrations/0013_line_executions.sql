-- oldest level: 1
-- Orders over a FIX line: each is recorded before it is sent. `state` is 'sent', 'unknown' after the venue proved that it
-- does not have the order, so that it may be sent again, or 'final'. `terms` and `answer` are JSON.
CREATE TABLE line_orders (
    line TEXT NOT NULL,
    order_id TEXT NOT NULL,
    client_order_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    broker TEXT NOT NULL,
    terms TEXT NOT NULL,
    sends BIGINT NOT NULL CHECK (sends > 0),
    state TEXT NOT NULL CHECK (state IN ('sent', 'unknown', 'final')),
    sent_at_us BIGINT NOT NULL,
    answer TEXT,
    filled_e8 BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (line, order_id),
    UNIQUE (line, client_order_id),
    UNIQUE (line, number),
    CHECK ((state = 'final') = (answer IS NOT NULL))
);
CREATE INDEX line_orders_unsettled ON line_orders (line, sent_at_us) WHERE state = 'sent';

-- Every fill that was reported on a line, by the venue's own id.
CREATE TABLE line_fills (
    line TEXT NOT NULL,
    client_order_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    quantity_e8 BIGINT NOT NULL CHECK (quantity_e8 > 0),
    price_e6 BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (line, client_order_id, execution_id)
);

-- What the reconciliation reads: each order that was filled, and each execution that belongs to none (`reason`).
-- Positions are given one by one, in the order of commits.
CREATE TABLE line_executions (
    line TEXT NOT NULL,
    position BIGINT NOT NULL,
    execution_id TEXT NOT NULL,
    order_id TEXT NOT NULL,
    instrument TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    quantity_e4 BIGINT NOT NULL,
    executed_at_us BIGINT NOT NULL,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (line, position),
    UNIQUE (line, execution_id, order_id)
);
