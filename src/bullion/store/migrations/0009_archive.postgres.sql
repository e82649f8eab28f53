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

-- It is compressed already: do not try again.
ALTER TABLE archived_orders ALTER COLUMN packed SET STORAGE EXTERNAL;

-- Idempotency keys never expire, so those of archived orders stay where a booking finds them by one look.
CREATE TABLE archived_keys (
    book_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    made_at_ms BIGINT NOT NULL,
    PRIMARY KEY (book_id, source, idempotency_key)
);

-- For the desk, which asks without naming the account: an id begins with its time, and ends in its ordinal.
CREATE INDEX archived_keys_by_time ON archived_keys (made_at_ms);

-- A node of the version before looks for a key in `orders` alone, and would book an archived one again. Nodes that
-- know the archive say so when they connect, and pass without more than that.
CREATE FUNCTION refuse_archived_key() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM archived_keys
        WHERE book_id = NEW.book_id AND source = NEW.source AND idempotency_key = NEW.idempotency_key
    ) THEN
        RAISE unique_violation USING MESSAGE = 'the order of this key is in the archive; restart this node';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER orders_know_the_archive
BEFORE INSERT ON orders
FOR EACH ROW
WHEN (
    current_setting('bullion.archive', true) IS DISTINCT FROM 'known'
    AND current_setting('application_name') LIKE 'bullion%'
)
EXECUTE FUNCTION refuse_archived_key();

-- For people who look into the store.
CREATE VIEW readable_archived_orders AS
SELECT
    accounts.broker,
    accounts.login_id,
    archived.first_ordinal,
    archived.last_ordinal,
    to_timestamp(archived.from_us / 1000000.0) AS first_created_at,
    to_timestamp(archived.to_us / 1000000.0) AS last_created_at,
    archived.plain_bytes,
    archived.packed_bytes
FROM archived_orders AS archived
JOIN books ON books.id = archived.book_id
JOIN accounts ON accounts.id = books.account_id;
