-- oldest level: 1
-- The hedge book: what a broker's clients hold and what covers it, per metal. Weights are fine milligrams (_mg), signed
-- from the broker's side: a client who buys makes them smaller, a cover that buys makes them larger.

-- A row exists from the time at which the desk opened the book. `version` is the ordinal of its last entry.
-- `volatility_e4`: the daily volatility in ten-thousandths of a percent, for the value at risk.
CREATE TABLE book_positions (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    policy TEXT NOT NULL CHECK (policy IN ('each', 'book')),
    limit_mg BIGINT NOT NULL CHECK (limit_mg >= 0),
    volatility_e4 BIGINT NOT NULL CHECK (volatility_e4 >= 0),
    client_mg BIGINT NOT NULL,
    cover_mg BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    opened_at_us BIGINT NOT NULL,
    open_since_us BIGINT,
    PRIMARY KEY (broker, metal)
);

-- Every change of a position, written with the order or the fill that made it. The position is the sum of its entries.
-- `name` is the id of the order, or of the execution of a cover.
CREATE TABLE book_entries (
    broker TEXT NOT NULL,
    metal TEXT NOT NULL,
    ordinal BIGINT NOT NULL CHECK (ordinal >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('opening', 'deal', 'close', 'delete', 'fill')),
    name TEXT NOT NULL,
    client_mg BIGINT NOT NULL,
    cover_mg BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (broker, metal, ordinal)
); -- SQLite: WITHOUT ROWID

-- What covers are dealt in: see bullion.hedge.contract. `active`: whether new covers may use it.
CREATE TABLE hedge_contracts (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    code TEXT NOT NULL CHECK (length(code) BETWEEN 1 AND 40),
    venue TEXT NOT NULL,
    venue_symbol TEXT NOT NULL,
    security_id TEXT NOT NULL,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    instrument TEXT NOT NULL,
    lot_ng BIGINT NOT NULL CHECK (lot_ng > 0),
    fineness_e4 BIGINT NOT NULL CHECK (fineness_e4 BETWEEN 1 AND 10000),
    step_e8 BIGINT NOT NULL CHECK (step_e8 > 0),
    price_ng BIGINT NOT NULL CHECK (price_ng > 0),
    currency TEXT NOT NULL CHECK (currency IN ('INR', 'USD')),
    tick_e6 BIGINT NOT NULL CHECK (tick_e6 > 0),
    expires_on TEXT NOT NULL,
    hold_until TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('suggest', 'auto')),
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    PRIMARY KEY (broker, code)
);

-- When the planner covers a metal: see bullion.hedge.book.rules. `terms` is JSON.
CREATE TABLE book_rules (
    broker TEXT NOT NULL,
    metal TEXT NOT NULL,
    place BIGINT NOT NULL CHECK (place >= 1),
    terms TEXT NOT NULL,
    PRIMARY KEY (broker, metal, place)
);

-- A cover is recorded before it is sent, and sent under its own id. `quantity_e8` is above zero; a buy makes the
-- position larger. `terms` is the contract as it was then, as JSON. While it is sent, its holder works on it until it is due, as with `hedge_requests`.
CREATE TABLE covers (
    id TEXT PRIMARY KEY,
    broker TEXT NOT NULL,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    contract TEXT NOT NULL,
    terms TEXT NOT NULL,
    venue TEXT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('buy', 'sell')),
    quantity_e8 BIGINT NOT NULL CHECK (quantity_e8 > 0),
    fine_mg BIGINT NOT NULL CHECK (fine_mg > 0),
    rule TEXT NOT NULL,
    made_by TEXT NOT NULL,
    idempotency_key TEXT,
    state TEXT NOT NULL CHECK (state IN ('suggested', 'sent', 'filled', 'partly', 'refused', 'dropped')),
    created_at_us BIGINT NOT NULL,
    sent_at_us BIGINT,
    sent_by TEXT,
    holder TEXT NOT NULL,
    due_at_us BIGINT NOT NULL,
    tries BIGINT NOT NULL DEFAULT 0,
    execution_id TEXT,
    words TEXT,
    finished_at_us BIGINT,
    UNIQUE (broker, idempotency_key)
);
CREATE INDEX covers_by_broker ON covers (broker, created_at_us);
CREATE INDEX covers_open ON covers (broker, metal) WHERE state IN ('suggested', 'sent');
CREATE INDEX covers_due ON covers (due_at_us) WHERE state = 'sent';

-- What was dealt for covers. An execution counts once. `reference_e6` is the market's price when the cover was sent,
-- `fee_minor` is in paise or cents, and `dollar_e6` is what a dollar cost then, or 0 for a contract in rupees.
CREATE TABLE cover_fills (
    broker TEXT NOT NULL,
    venue TEXT NOT NULL,
    execution_id TEXT NOT NULL CHECK (length(execution_id) BETWEEN 1 AND 128),
    cover_id TEXT NOT NULL REFERENCES covers (id),
    quantity_e8 BIGINT NOT NULL CHECK (quantity_e8 > 0),
    price_e6 BIGINT NOT NULL CHECK (price_e6 > 0),
    reference_e6 BIGINT NOT NULL,
    fee_minor BIGINT NOT NULL,
    dollar_e6 BIGINT NOT NULL,
    fine_mg BIGINT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (broker, venue, execution_id)
);
CREATE INDEX cover_fills_by_cover ON cover_fills (cover_id);

-- The book at the end of each day: `state` is JSON of bullion.hedge.book.profit, `ordinal` the last entry in it.
CREATE TABLE cover_marks (
    broker TEXT NOT NULL,
    metal TEXT NOT NULL,
    day TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (broker, metal, day)
);
