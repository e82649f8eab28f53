-- The orders of a kind, by ordinal. It contains every order; because of the condition only queries that repeat it use
-- it, and no plan that was made while the tables were small picks it by mistake.
CREATE INDEX orders_by_kind ON orders (book_id, status, symbol_code, trade_type, ordinal) WHERE metal <> '';

-- Packed orders are compressed already; traces are soon deleted, so compression costs more than it saves.
ALTER TABLE archived_orders ALTER COLUMN packed SET STORAGE EXTERNAL;
ALTER TABLE trace_batches ALTER COLUMN traces SET STORAGE EXTERNAL;

CREATE SEQUENCE venue_execution_numbers;

-- The catalogue's version at the moment of the call. A statement sees the data as of its start; a volatile function
-- called in it sees the data as of now. A booking calls it after it has waited for the locks of its books.
CREATE FUNCTION catalogue_version_now() RETURNS BIGINT
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT version FROM catalogue WHERE one = 1);
END
$$;

-- A node that does not know the archive looks for a key in `orders` alone, and would book an archived order again.
-- Nodes that know the archive say so when they connect, and skip this check.
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
