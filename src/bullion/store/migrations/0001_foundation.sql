-- The first schema, in words that both engines understand: whole numbers and text only.
-- Weights are ten-thousandths (_e4), rupees are paise (_paise), times are microseconds UTC (_us),
-- yes and no are 1 and 0. Every table of a broker's things begins its key with the broker or the account.

CREATE TABLE deployment (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- One row: the version of everything that nodes keep in memory. Whoever changes such a thing moves it
-- first and thereby holds the row, so versions come in the order of the commits.
CREATE TABLE catalogue (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL,
    oldest_change BIGINT NOT NULL
);

INSERT INTO catalogue (one, version, oldest_change) VALUES (1, 0, 0);

-- What changed at which version, so that a node reads only that.
CREATE TABLE changes (
    version BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('broker', 'account', 'group', 'symbol', 'key', 'switches')),
    broker TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (version, kind, broker, subject)
);

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

-- What the desk keeps in stock of a symbol; no row means that stock is not counted. Bookings move it,
-- so it stands apart from what nodes keep in memory.
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
    UNIQUE (broker, login_id),
    FOREIGN KEY (broker, group_code) REFERENCES groups (broker, code)
);

-- One book per account and environment. Whatever changes it moves its version, so that a node that
-- decided on an older state of it is found out. The allocation is the same in both books of an account.
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
    UNIQUE (account_id, environment)
);

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
    CHECK ((replaced_by IS NULL) = (overlap_ends_at_us IS NULL))
);

CREATE INDEX keys_by_account ON keys (account_id, created_at_us);

-- Written now and then in one go for many keys; apart from `keys` so that reading never moves a version.
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
    deleted_at_us BIGINT
);

CREATE INDEX tokens_by_broker ON tokens (broker, created_at_us);

-- Who did what. Each entry's hash covers the one before it, and is keyed: see bullion.records.audit.
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

-- Kept apart from the entries, and keyed too, so that taking the last entry away is found.
CREATE TABLE audit_heads (
    broker TEXT PRIMARY KEY,
    count BIGINT NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
);
