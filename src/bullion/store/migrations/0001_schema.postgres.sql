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
