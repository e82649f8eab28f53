-- The orders of a kind, by their ordinals. The counts say which kinds a book has and how many of each; this leads
-- to them, however few there are among the others. Every order is in it: the condition is there so that only
-- queries which repeat it can go this way.
CREATE INDEX orders_by_kind ON orders (book_id, status, symbol_code, trade_type, ordinal) WHERE ordinal > 0;

-- The counts of a kind side by side, so that those of other kinds are not read with them; and in one tree instead of
-- a table and an index.
CREATE TABLE counts_by_kind (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block)
) STRICT, WITHOUT ROWID;

INSERT INTO counts_by_kind (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT book_id, level, block, symbol_code, trade_type, status, orders
FROM order_counts;

DROP TABLE order_counts;

ALTER TABLE counts_by_kind RENAME TO order_counts;
