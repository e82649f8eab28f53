-- Orders, the books they stand in, and the rates they were priced by.

-- Orders up to this ordinal were archived by a reset: out of lists and positions, still readable and replayed.
ALTER TABLE books ADD COLUMN archived_count BIGINT NOT NULL DEFAULT 0;
-- Times never run backwards within a book, so a time is found by its ordinal, without an index of its own.
ALTER TABLE books ADD COLUMN last_order_at_us BIGINT NOT NULL DEFAULT 0;

-- An order's key begins with its book: one account's history never widens the work of another's. There is no
-- foreign key to `books`: every insert holds its book's row already.
CREATE TABLE orders (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL CHECK (ordinal >= 1),
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL CHECK (trade_type IN ('buy', 'sell')),
    quantity_e4 BIGINT NOT NULL CHECK (quantity_e4 > 0),
    expected_price TEXT,
    client_order_id TEXT,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    price_paise BIGINT CHECK (price_paise > 0),
    total_paise BIGINT CHECK (total_paise >= 0),
    status TEXT NOT NULL
        CHECK (status IN ('filled', 'pending', 'open', 'closing', 'closed', 'rejected', 'deleted')),
    key_id TEXT,
    request_id TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    price_anatomy TEXT NOT NULL,
    PRIMARY KEY (book_id, ordinal),
    UNIQUE (book_id, source, idempotency_key)
);

CREATE INDEX orders_by_client_order_id ON orders (book_id, client_order_id, ordinal)
    WHERE client_order_id IS NOT NULL;

-- For the desk, which asks without naming the account; clients' reads find an order by the ordinal that its id
-- ends in. Ids begin with their time.
CREATE INDEX orders_by_id ON orders (id);

-- How many orders of a kind a block of ordinals holds, kept by the transaction that records them. Level 0 has
-- blocks of 512 ordinals, level 1 of 65,536: a filtered total, or the page at any offset, is a few rows.
CREATE TABLE order_counts (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, block, symbol_code, trade_type, status)
);

-- Keys that were settled by `price_moved` rather than by an order.
CREATE TABLE price_moves (
    book_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    quantity_e4 BIGINT NOT NULL,
    expected_price TEXT NOT NULL,
    client_order_id TEXT,
    price_paise BIGINT NOT NULL,
    tolerance_percent_e4 BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    PRIMARY KEY (book_id, source, idempotency_key)
);

-- One row: moved by whoever writes ticks, who thereby holds it, so that no node misses one.
CREATE TABLE rates (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL
);

INSERT INTO rates (one, version) VALUES (1, 0);

-- The last tick of each instrument. An empty broker is the market, which all brokers share.
CREATE TABLE ticks (
    broker TEXT NOT NULL,
    instrument TEXT NOT NULL,
    bid_e6 BIGINT NOT NULL CHECK (bid_e6 > 0),
    ask_e6 BIGINT NOT NULL CHECK (ask_e6 >= bid_e6),
    at_us BIGINT NOT NULL,
    moved_at_us BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (broker, instrument)
);

CREATE INDEX ticks_by_version ON ticks (version);

-- Work that one node does for all: who does it now, and until when it is theirs.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until_us BIGINT NOT NULL
);

CREATE TABLE duties (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
    from_date TEXT NOT NULL,
    rupees_paise BIGINT NOT NULL,
    PRIMARY KEY (broker, name, from_date)
);

-- Why orders were taken or refused, many in a row: written now and then in one go, found by the time that a
-- request id begins with, and forgotten from the old end once `bytes_through` has grown by what we keep.
CREATE TABLE trace_batches (
    ordinal BIGINT PRIMARY KEY,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    bytes_through BIGINT NOT NULL,
    traces TEXT NOT NULL
);

CREATE INDEX trace_batches_by_time ON trace_batches (to_ms);

-- There is one more kind of change, and there will be others. Nodes that ask for what came before read all.
DROP TABLE changes;

CREATE TABLE changes (
    version BIGINT NOT NULL,
    kind TEXT NOT NULL,
    broker TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (version, kind, broker, subject)
);

UPDATE catalogue SET oldest_change = version;
