-- The schema that both engines share: whole numbers and text only.
-- Weights are ten-thousandths (_e4), rupees are paise (_paise), times are microseconds UTC (_us), flags are 1 or 0.
-- The key of every table that belongs to a broker begins with the broker or the account.

-- Deployment and catalogue --------------------------------------------------------------------------------

CREATE TABLE deployment (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- One row: the version of everything that nodes keep in memory. A change updates this row first and holds its lock,
-- so versions come in the order of the commits.
CREATE TABLE catalogue (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL,
    oldest_change BIGINT NOT NULL
);
INSERT INTO catalogue (one, version, oldest_change) VALUES (1, 0, 0);

-- What changed at which version, so that a node reads only that.
CREATE TABLE changes (
    version BIGINT NOT NULL,
    kind TEXT NOT NULL,
    broker TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (version, kind, broker, subject)
);

-- Work that one node does for all: which node does it, and until when.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until_us BIGINT NOT NULL
);

-- Brokers and what they offer -----------------------------------------------------------------------------

CREATE TABLE brokers (
    tag TEXT PRIMARY KEY CHECK (length(tag) BETWEEN 1 AND 32),
    name TEXT NOT NULL,
    created_at_us BIGINT NOT NULL
);

CREATE TABLE broker_hosts (
    host TEXT PRIMARY KEY,
    broker TEXT NOT NULL REFERENCES brokers (tag)
);
CREATE INDEX broker_hosts_by_broker ON broker_hosts (broker);

CREATE TABLE switches (
    broker TEXT PRIMARY KEY REFERENCES brokers (tag),
    production BIGINT NOT NULL CHECK (production IN (0, 1)),
    paused BIGINT NOT NULL CHECK (paused IN (0, 1)),
    halted BIGINT NOT NULL CHECK (halted IN (0, 1)),
    price_tolerance_percent_e4 BIGINT NOT NULL CHECK (price_tolerance_percent_e4 BETWEEN 0 AND 1000000),
    trading_hours TEXT,
    reads_per_minute BIGINT NOT NULL CHECK (reads_per_minute >= 0),
    orders_per_minute BIGINT NOT NULL CHECK (orders_per_minute >= 0),
    orders_per_10_seconds BIGINT NOT NULL CHECK (orders_per_10_seconds >= 0),
    account_orders_per_minute BIGINT NOT NULL CHECK (account_orders_per_minute >= 0),
    failed_auth_per_minute BIGINT NOT NULL CHECK (failed_auth_per_minute >= 1)
);

CREATE TABLE symbols (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    code TEXT NOT NULL CHECK (length(code) BETWEEN 1 AND 32),
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    quoted_weight_e4 BIGINT NOT NULL CHECK (quoted_weight_e4 > 0),
    trading BIGINT NOT NULL CHECK (trading IN (0, 1)),
    buy_offered BIGINT NOT NULL CHECK (buy_offered IN (0, 1)),
    sell_offered BIGINT NOT NULL CHECK (sell_offered IN (0, 1)),
    frozen BIGINT NOT NULL CHECK (frozen IN (0, 1)),
    minimum_e4 BIGINT NOT NULL CHECK (minimum_e4 > 0),
    maximum_e4 BIGINT NOT NULL CHECK (maximum_e4 >= minimum_e4),
    step_e4 BIGINT NOT NULL CHECK (step_e4 > 0),
    rate_age_s_max BIGINT CHECK (rate_age_s_max > 0),
    freeze_after_s BIGINT CHECK (freeze_after_s > 0),
    pricing TEXT NOT NULL,
    PRIMARY KEY (broker, code)
);

-- The desk's stock of a symbol; without a row, stock is not counted. Bookings change it, so it is not a column of
-- `symbols`, which nodes keep in memory.
CREATE TABLE stocks (
    broker TEXT NOT NULL,
    symbol_code TEXT NOT NULL,
    weight_e4 BIGINT NOT NULL CHECK (weight_e4 >= 0),
    PRIMARY KEY (broker, symbol_code),
    FOREIGN KEY (broker, symbol_code) REFERENCES symbols (broker, code)
);

CREATE TABLE groups (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    code TEXT NOT NULL CHECK (length(code) BETWEEN 1 AND 32),
    trading BIGINT NOT NULL CHECK (trading IN (0, 1)),
    PRIMARY KEY (broker, code)
);

-- The empty symbol code holds the group's default terms.
CREATE TABLE group_terms (
    broker TEXT NOT NULL,
    group_code TEXT NOT NULL,
    symbol_code TEXT NOT NULL CHECK (length(symbol_code) <= 32),
    buy_premium_paise BIGINT,
    sell_premium_paise BIGINT,
    minimum_e4 BIGINT CHECK (minimum_e4 > 0),
    maximum_e4 BIGINT CHECK (maximum_e4 > 0),
    step_e4 BIGINT CHECK (step_e4 > 0),
    PRIMARY KEY (broker, group_code, symbol_code),
    FOREIGN KEY (broker, group_code) REFERENCES groups (broker, code)
);

CREATE TABLE duties (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
    from_date TEXT NOT NULL,
    rupees_paise BIGINT NOT NULL,
    PRIMARY KEY (broker, name, from_date)
);

-- Accounts, keys and the audit trail ----------------------------------------------------------------------

-- `scenarios`: whether the account may ask the test environment for a made-up response.
CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    broker TEXT NOT NULL REFERENCES brokers (tag),
    login_id TEXT NOT NULL CHECK (length(login_id) BETWEEN 1 AND 64),
    firm_name TEXT,
    group_code TEXT NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    api_access BIGINT NOT NULL CHECK (api_access IN (0, 1)),
    production_trading BIGINT NOT NULL CHECK (production_trading IN (0, 1)),
    created_at_us BIGINT NOT NULL,
    scenarios BIGINT NOT NULL DEFAULT 0 CHECK (scenarios IN (0, 1)),
    UNIQUE (broker, login_id),
    FOREIGN KEY (broker, group_code) REFERENCES groups (broker, code)
);

-- `secret_id`: which of the deployment's secrets the hash was made with, while the secret is exchanged.
CREATE TABLE keys (
    key_id TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production')),
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    secret_hash TEXT NOT NULL CHECK (length(secret_hash) = 64),
    allowed_addresses TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    expires_at_us BIGINT,
    revoked_at_us BIGINT,
    replaced_by TEXT,
    overlap_ends_at_us BIGINT,
    secret_id TEXT NOT NULL DEFAULT '',
    CHECK ((replaced_by IS NULL) = (overlap_ends_at_us IS NULL))
);
CREATE INDEX keys_by_account ON keys (account_id, created_at_us);

-- Written in batches; not a column of `keys`, so that the use of a key changes no version.
CREATE TABLE key_uses (
    key_id TEXT PRIMARY KEY REFERENCES keys (key_id),
    last_used_at_us BIGINT NOT NULL
);

CREATE TABLE tokens (
    token_id TEXT PRIMARY KEY,
    broker TEXT NOT NULL REFERENCES brokers (tag),
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'dealer', 'admin')),
    secret_hash TEXT NOT NULL CHECK (length(secret_hash) = 64),
    created_at_us BIGINT NOT NULL,
    deleted_at_us BIGINT,
    secret_id TEXT NOT NULL DEFAULT ''
);
CREATE INDEX tokens_by_broker ON tokens (broker, created_at_us);

-- Who did what. Each entry's hash is keyed and covers the entry before it: see bullion.records.audit.
CREATE TABLE audit (
    broker TEXT NOT NULL,
    ordinal BIGINT NOT NULL CHECK (ordinal >= 1),
    at_us BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    before TEXT,
    after TEXT,
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (broker, ordinal)
);

-- The last entry of each broker's trail, with a keyed seal, so that the removal of that entry is noticed.
CREATE TABLE audit_heads (
    broker TEXT PRIMARY KEY,
    count BIGINT NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
);

-- Rates ---------------------------------------------------------------------------------------------------

-- One row. A writer of ticks updates its version first and holds its lock, so that no node misses a tick.
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

-- Books and orders ----------------------------------------------------------------------------------------

-- One book per account and environment. Every change raises its version, so that a node's decision on an older state
-- is detected. Both books of an account have the same limits. Times never run backwards within a book
-- (`last_order_at_us`), so an order is found by its time through its ordinal. Orders up to `archived_count` were
-- removed from lists and positions by a reset. Orders from `unsummed_from` on are not in `block_counts` yet.
CREATE TABLE books (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production')),
    gold_net_e4 BIGINT NOT NULL DEFAULT 0,
    silver_net_e4 BIGINT NOT NULL DEFAULT 0,
    gold_limit_e4 BIGINT NOT NULL CHECK (gold_limit_e4 >= 0),
    silver_limit_e4 BIGINT NOT NULL CHECK (silver_limit_e4 >= 0),
    order_count BIGINT NOT NULL DEFAULT 0 CHECK (order_count >= 0),
    version BIGINT NOT NULL DEFAULT 1 CHECK (version >= 1),
    archived_count BIGINT NOT NULL DEFAULT 0,
    last_order_at_us BIGINT NOT NULL DEFAULT 0,
    unsummed_from BIGINT NOT NULL DEFAULT 1,
    UNIQUE (account_id, environment)
);

-- The key begins with the book, so that the size of one account's history does not slow down another's. There is no
-- foreign key to `books`: every insert has locked its book's row already.
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
    status TEXT NOT NULL CHECK (status IN ('filled', 'pending', 'open', 'closing', 'closed', 'rejected', 'deleted')),
    key_id TEXT,
    request_id TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    price_anatomy TEXT NOT NULL,
    deal_no BIGINT,
    close_price_paise BIGINT CHECK (close_price_paise > 0),
    realized_pnl_paise BIGINT,
    closed_at_us BIGINT,
    PRIMARY KEY (book_id, ordinal),
    UNIQUE (book_id, source, idempotency_key)
);
CREATE INDEX orders_by_client_order_id ON orders (book_id, client_order_id, ordinal)
    WHERE client_order_id IS NOT NULL;
-- For the desk, which does not name the account. Clients' reads find an order by the ordinal at the end of its id.
CREATE INDEX orders_by_id ON orders (id);

-- The changes of an order after it was recorded. No order enters the same status twice.
CREATE TABLE order_events (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    status TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    actor TEXT NOT NULL,
    words TEXT,
    PRIMARY KEY (book_id, ordinal, status)
);

-- Idempotency keys that were settled by `price_moved` rather than by an order.
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

-- How many ordinals a block of each level holds; the last level holds all of them.
CREATE VIEW block_levels AS
SELECT 0 AS level, CAST(256 AS BIGINT) AS size
UNION ALL
SELECT 1, 4096
UNION ALL
SELECT 2, 65536
UNION ALL
SELECT 3, 4611686018427387904;

-- How many orders of a kind a full block of ordinals holds: see `sum_blocks`. The few orders behind the last full block
-- are counted one by one, so a booking updates no count. The status `shown` counts all orders that the API lists
-- without a status filter.
CREATE TABLE block_counts (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block)
); -- SQLite: WITHOUT ROWID

-- Why orders were accepted or refused, many in a row: written in batches, found by the time at the start of a request
-- id. The oldest rows are deleted when `bytes_through` has grown by what we keep.
CREATE TABLE trace_batches (
    ordinal BIGINT PRIMARY KEY,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    bytes_through BIGINT NOT NULL,
    traces TEXT NOT NULL
);
CREATE INDEX trace_batches_by_time ON trace_batches (to_ms);

-- The archive: test orders that a reset removed, many packed into one row, from a book's first order on without a
-- gap. One transaction moves an order from `orders` to here.
CREATE TABLE archived_orders (
    book_id BIGINT NOT NULL CHECK (book_id % 2 = 0),
    first_ordinal BIGINT NOT NULL CHECK (first_ordinal >= 1),
    last_ordinal BIGINT NOT NULL CHECK (last_ordinal >= first_ordinal),
    from_us BIGINT NOT NULL,
    to_us BIGINT NOT NULL,
    plain_bytes BIGINT NOT NULL,
    packed_bytes BIGINT NOT NULL,
    packed TEXT NOT NULL,
    PRIMARY KEY (book_id, first_ordinal)
);

-- Idempotency keys never expire: a booking finds the keys of archived orders here with one lookup.
CREATE TABLE archived_keys (
    book_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    made_at_ms BIGINT NOT NULL,
    PRIMARY KEY (book_id, source, idempotency_key)
); -- SQLite: WITHOUT ROWID
-- For the desk, which does not name the account: an id begins with its time and ends with its ordinal.
CREATE INDEX archived_keys_by_time ON archived_keys (made_at_ms);

-- Production and hedges -----------------------------------------------------------------------------------

-- What is open per symbol, kept by the transactions that record and change orders. Production books have odd ids; test
-- books have no rows here.
CREATE TABLE open_weights (
    book_id BIGINT NOT NULL CHECK (book_id % 2 = 1),
    symbol_code TEXT NOT NULL,
    metal TEXT NOT NULL CHECK (metal IN ('gold', 'silver')),
    buy_e4 BIGINT NOT NULL CHECK (buy_e4 >= 0),
    sell_e4 BIGINT NOT NULL CHECK (sell_e4 >= 0),
    PRIMARY KEY (book_id, symbol_code)
);

-- What is requested of the venue for an order, recorded with the order itself. The holder works on it until it is due;
-- then any node of the same venue may take it over. A request that waits for a person must never reach another venue.
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

-- How the simulated venue of each broker behaves.
CREATE TABLE venues (
    broker TEXT PRIMARY KEY REFERENCES brokers (tag),
    mode TEXT NOT NULL CHECK (mode IN ('fill', 'refuse', 'hold', 'down')),
    delay_ms BIGINT NOT NULL CHECK (delay_ms >= 0),
    instruments TEXT NOT NULL
);

-- The simulated venue's own book. The transactions of our bookings never write it. `execution_no` is the place of an
-- execution in the venue's list: 0 if it is not listed, null until `number_execution` numbers it.
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
    executed_at_us BIGINT,
    execution_no BIGINT
);
CREATE INDEX venue_orders_by_broker ON venue_orders (broker, order_id);
CREATE INDEX venue_orders_by_number ON venue_orders (broker, execution_no) WHERE execution_no > 0;
CREATE INDEX venue_orders_unnumbered ON venue_orders (executed_at_us)
    WHERE outcome = 'confirmed' AND execution_no IS NULL;

-- Executions that no order of ours accounts for: for an unknown order, a second one for an order, or one whose weight
-- or side differs. `excess_e4` is the weight beyond the order's, positive for a buy. `metal` is null if we hedge
-- nothing in the instrument.
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

-- The position up to which each venue's executions were compared with our requests.
CREATE TABLE execution_cursors (
    broker TEXT NOT NULL,
    venue TEXT NOT NULL,
    position TEXT NOT NULL,
    PRIMARY KEY (broker, venue)
);

-- Views for people ----------------------------------------------------------------------------------------
-- Readable decimals, times and flags. The service does not use them, and they contain no hash of a secret.

CREATE VIEW readable_accounts AS
SELECT
    broker, login_id, firm_name, group_code,
    active = 1 AS active,
    api_access = 1 AS api_access,
    production_trading = 1 AS production_trading,
    to_timestamp(created_at_us / 1000000.0) AS created_at,
    scenarios = 1 AS scenarios
FROM accounts;

CREATE VIEW readable_keys AS
SELECT
    accounts.broker, accounts.login_id, keys.key_id, keys.environment, keys.name, keys.scopes, keys.allowed_addresses,
    to_timestamp(keys.created_at_us / 1000000.0) AS created_at,
    to_timestamp(keys.expires_at_us / 1000000.0) AS expires_at,
    to_timestamp(keys.revoked_at_us / 1000000.0) AS revoked_at,
    keys.replaced_by,
    to_timestamp(keys.overlap_ends_at_us / 1000000.0) AS overlap_ends_at,
    to_timestamp(key_uses.last_used_at_us / 1000000.0) AS last_used_at
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id;

CREATE VIEW readable_audit AS
SELECT broker, ordinal, to_timestamp(at_us / 1000000.0) AS at, actor, action, subject, before, after
FROM audit;

CREATE VIEW readable_symbols AS
SELECT
    symbols.broker, symbols.code, symbols.metal,
    symbols.quoted_weight_e4 * 0.0001 AS quoted_weight,
    symbols.trading = 1 AS trading,
    symbols.frozen = 1 AS frozen,
    symbols.minimum_e4 * 0.0001 AS minimum,
    symbols.maximum_e4 * 0.0001 AS maximum,
    symbols.step_e4 * 0.0001 AS step,
    stocks.weight_e4 * 0.0001 AS stock,
    symbols.pricing
FROM symbols
LEFT JOIN stocks ON stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code;

CREATE VIEW readable_duties AS
SELECT broker, name, from_date, rupees_paise * 0.01 AS rupees
FROM duties;

-- An empty broker is the market, which all brokers share.
CREATE VIEW readable_ticks AS
SELECT
    broker, instrument,
    bid_e6 * 0.000001 AS bid,
    ask_e6 * 0.000001 AS ask,
    to_timestamp(at_us / 1000000.0) AS at,
    to_timestamp(moved_at_us / 1000000.0) AS moved_at
FROM ticks;

CREATE VIEW readable_books AS
SELECT
    accounts.broker, accounts.login_id, books.environment,
    books.gold_net_e4 * 0.0001 AS gold_net_g,
    books.gold_limit_e4 * 0.0001 AS gold_limit_g,
    books.silver_net_e4 * 0.0001 AS silver_net_kg,
    books.silver_limit_e4 * 0.0001 AS silver_limit_kg,
    books.order_count
FROM books
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_orders AS
SELECT
    accounts.broker, accounts.login_id, books.environment,
    orders.ordinal, orders.id, orders.symbol_code, orders.trade_type,
    orders.quantity_e4 * 0.0001 AS quantity,
    CASE orders.metal WHEN 'gold' THEN 'g' ELSE 'kg' END AS unit,
    orders.price_paise * 0.01 AS price,
    orders.total_paise * 0.01 AS total,
    orders.status, orders.source, orders.client_order_id, orders.idempotency_key, orders.key_id, orders.request_id,
    orders.ordinal <= books.archived_count AS archived,
    to_timestamp(orders.created_at_us / 1000000.0) AS created_at,
    orders.deal_no,
    orders.close_price_paise * 0.01 AS close_price,
    orders.realized_pnl_paise * 0.01 AS realized_pnl,
    to_timestamp(orders.closed_at_us / 1000000.0) AS closed_at
FROM orders
JOIN books ON books.id = orders.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_order_events AS
SELECT
    orders.id AS order_id, events.status, to_timestamp(events.at_us / 1000000.0) AS at, events.actor, events.words
FROM order_events AS events
JOIN orders ON orders.book_id = events.book_id AND orders.ordinal = events.ordinal;

CREATE VIEW readable_archived_orders AS
SELECT
    accounts.broker, accounts.login_id, archived.first_ordinal, archived.last_ordinal,
    to_timestamp(archived.from_us / 1000000.0) AS first_created_at,
    to_timestamp(archived.to_us / 1000000.0) AS last_created_at,
    archived.plain_bytes, archived.packed_bytes
FROM archived_orders AS archived
JOIN books ON books.id = archived.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_open_weights AS
SELECT
    accounts.broker, accounts.login_id, weights.symbol_code, weights.metal,
    weights.buy_e4 * 0.0001 AS buy,
    weights.sell_e4 * 0.0001 AS sell
FROM open_weights AS weights
JOIN books ON books.id = weights.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_hedge_requests AS
SELECT
    hedges.broker, accounts.login_id, hedges.order_id, hedges.instrument, orders.trade_type,
    orders.quantity_e4 * 0.0001 AS quantity,
    orders.status AS order_status,
    hedges.state, hedges.outcome, hedges.execution_id, hedges.words, hedges.tries,
    to_timestamp(hedges.due_at_us / 1000000.0) AS due_at,
    to_timestamp(hedges.answered_at_us / 1000000.0) AS answered_at,
    hedges.resolved_by, hedges.resolution
FROM hedge_requests AS hedges
JOIN orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
JOIN books ON books.id = hedges.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_venue_orders AS
SELECT
    broker, order_id, instrument, trade_type,
    quantity_e4 * 0.0001 AS quantity,
    submissions, outcome, execution_id,
    to_timestamp(executed_at_us / 1000000.0) AS executed_at
FROM venue_orders;

CREATE VIEW readable_unmatched_executions AS
SELECT
    broker, venue, execution_id, reason, order_id, metal, instrument, trade_type,
    quantity_e4 * 0.0001 AS quantity,
    excess_e4 * 0.0001 AS excess,
    to_timestamp(executed_at_us / 1000000.0) AS executed_at,
    to_timestamp(seen_at_us / 1000000.0) AS seen_at,
    resolved_by, resolution
FROM unmatched_executions;
