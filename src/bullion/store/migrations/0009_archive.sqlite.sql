-- The archive: test orders that a reset has set aside, out of `orders`, many packed into one row.

-- The orders of a book from its first on, without a gap. What lies here is no longer in `orders`, and what is
-- still in `orders` is not here: one transaction takes it from there to here.
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

-- Idempotency keys never expire, so those of archived orders stay where a booking finds them by one look. Without
-- a rowid there is one tree instead of two.
CREATE TABLE archived_keys (
    book_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    made_at_ms BIGINT NOT NULL,
    PRIMARY KEY (book_id, source, idempotency_key)
) STRICT, WITHOUT ROWID;

-- For the desk, which asks without naming the account: an id begins with its time, and ends in its ordinal.
CREATE INDEX archived_keys_by_time ON archived_keys (made_at_ms);

-- For people who look into the store.
CREATE VIEW readable_archived_orders AS
SELECT
    accounts.broker,
    accounts.login_id,
    archived.first_ordinal,
    archived.last_ordinal,
    strftime('%Y-%m-%d %H:%M:%S', archived.from_us / 1000000, 'unixepoch') || printf('.%06d+00', archived.from_us % 1000000) AS first_created_at,
    strftime('%Y-%m-%d %H:%M:%S', archived.to_us / 1000000, 'unixepoch') || printf('.%06d+00', archived.to_us % 1000000) AS last_created_at,
    archived.plain_bytes,
    archived.packed_bytes
FROM archived_orders AS archived
JOIN books ON books.id = archived.book_id
JOIN accounts ON accounts.id = books.account_id;
