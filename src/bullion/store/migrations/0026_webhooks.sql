-- oldest level: 1
-- Addresses that get the events of an account in one environment. The events up to delivered_through were delivered, given
-- up, or not wanted; tries counts those of the next one. While holder has the lease, it alone delivers. The secret is
-- encrypted with a key that follows from the deployment's secret, which secret_id names; after a rotation the previous one
-- signs too, for a while. types: names with spaces between, or empty for all. attempts counts what was tried so far.
CREATE TABLE webhooks (
    book_id BIGINT NOT NULL,
    id TEXT NOT NULL,
    slot BIGINT NOT NULL CHECK (slot BETWEEN 1 AND 5),
    url TEXT NOT NULL,
    types TEXT NOT NULL,
    description TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('on', 'off')),
    off_reason TEXT,
    off_at_us BIGINT,
    created_at_us BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    encrypted_secret TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    previous_secret TEXT,
    previous_until_us BIGINT,
    delivered_through BIGINT NOT NULL CHECK (delivered_through >= 0),
    tries BIGINT NOT NULL DEFAULT 0,
    failing_since_us BIGINT,
    next_try_at_us BIGINT NOT NULL,
    last_delivered_at_us BIGINT,
    replaying BIGINT NOT NULL DEFAULT 0 CHECK (replaying IN (0, 1)),
    attempts BIGINT NOT NULL DEFAULT 0,
    holder TEXT NOT NULL DEFAULT '',
    lease_until_us BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, id),
    UNIQUE (book_id, slot)
);

CREATE INDEX webhooks_due ON webhooks (next_try_at_us) WHERE state = 'on';

-- The newest attempts of each webhook: the hundred-and-first overwrites the first.
CREATE TABLE webhook_attempts (
    book_id BIGINT NOT NULL,
    webhook_id TEXT NOT NULL,
    slot BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    number BIGINT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    status BIGINT,
    duration_ms BIGINT NOT NULL,
    error TEXT,
    response TEXT NOT NULL,
    PRIMARY KEY (book_id, webhook_id, slot)
);

-- Events that were given up. One that is being replayed is sent once more.
CREATE TABLE webhook_dead_events (
    book_id BIGINT NOT NULL,
    webhook_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    dead_at_us BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    error TEXT NOT NULL,
    replaying BIGINT NOT NULL DEFAULT 0 CHECK (replaying IN (0, 1)),
    PRIMARY KEY (book_id, webhook_id, number)
);
