-- Production: orders that a venue hedges, their life after that, and what is open per symbol.

-- The operator's deal number, given when an order is booked, and what closing it came to.
ALTER TABLE orders ADD COLUMN deal_no BIGINT;
ALTER TABLE orders ADD COLUMN close_price_paise BIGINT CHECK (close_price_paise > 0);
ALTER TABLE orders ADD COLUMN realized_pnl_paise BIGINT;
ALTER TABLE orders ADD COLUMN closed_at_us BIGINT;

-- The life of an order after it was recorded. No order is twice in the same state.
CREATE TABLE order_events (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    status TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    actor TEXT NOT NULL,
    words TEXT,
    PRIMARY KEY (book_id, ordinal, status)
);

-- What is open per symbol, kept by the transactions that record and change orders. Books of the test
-- environment have even numbers, and have no rows here: their response has no such part.
CREATE TABLE open_weights (
    book_id BIGINT NOT NULL CHECK (book_id % 2 = 1),
    symbol_code TEXT NOT NULL,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    buy_e4 BIGINT NOT NULL CHECK (buy_e4 >= 0),
    sell_e4 BIGINT NOT NULL CHECK (sell_e4 >= 0),
    PRIMARY KEY (book_id, symbol_code)
);

-- What is asked of the venue for an order, recorded with the order itself. Whoever is named as the holder deals
-- with it until it is due; from then on any node of the same venue may take it over: what waits for a person must
-- never go to a venue that is set by mistake. A test book can have none: see the check.
CREATE TABLE hedge_requests (
    book_id BIGINT NOT NULL CHECK (book_id % 2 = 1),
    ordinal BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    broker TEXT NOT NULL,
    instrument TEXT NOT NULL,
    took_stock BIGINT NOT NULL CHECK (took_stock IN (0, 1)),
    venue TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'answered', 'withdrawn', 'broken')),
    holder TEXT NOT NULL,
    due_at_us BIGINT NOT NULL,
    tries BIGINT NOT NULL DEFAULT 0,
    words TEXT,
    outcome TEXT CHECK (outcome IN ('confirmed', 'refused')),
    execution_id TEXT,
    answered_at_us BIGINT,
    resolved_by TEXT,
    resolution TEXT,
    PRIMARY KEY (book_id, ordinal)
);

CREATE INDEX hedge_requests_due ON hedge_requests (due_at_us) WHERE state = 'waiting';
CREATE INDEX hedge_requests_waiting ON hedge_requests (broker, order_id) WHERE state = 'waiting';
CREATE INDEX hedge_requests_broken ON hedge_requests (broker, order_id) WHERE state = 'broken';

-- The last deal number of each broker.
CREATE TABLE deals (
    broker TEXT PRIMARY KEY REFERENCES brokers (tag),
    last_deal_no BIGINT NOT NULL
);

-- The simulated venue, one for each broker: how it behaves, and what was asked of it. It keeps its own book, as a
-- venue does: nothing here is written by the transactions of our bookings.
CREATE TABLE venues (
    broker TEXT PRIMARY KEY REFERENCES brokers (tag),
    mode TEXT NOT NULL CHECK (mode IN ('fill', 'refuse', 'hold', 'down')),
    delay_ms BIGINT NOT NULL CHECK (delay_ms >= 0),
    instruments TEXT NOT NULL
);

CREATE TABLE venue_orders (
    order_id TEXT PRIMARY KEY,
    broker TEXT NOT NULL,
    instrument TEXT NOT NULL,
    trade_type TEXT NOT NULL CHECK (trade_type IN ('buy', 'sell')),
    quantity_e4 BIGINT NOT NULL CHECK (quantity_e4 > 0),
    submissions BIGINT NOT NULL,
    due_at_us BIGINT NOT NULL,
    outcome TEXT CHECK (outcome IN ('confirmed', 'refused')),
    execution_id TEXT,
    executed_at_us BIGINT
);

CREATE INDEX venue_orders_by_broker ON venue_orders (broker, order_id);
