-- The orders of a kind, by their ordinals. The counts say which kinds a book has and how many of each; this leads
-- to them, however few there are among the others. Every order is in it: the condition is there so that only
-- queries which repeat it can go this way.
CREATE INDEX orders_by_kind ON orders (book_id, status, symbol_code, trade_type, ordinal) WHERE book_id > 0;

-- The counts of a kind side by side, so that those of other kinds are not read with them; and in one tree instead of
-- a table and an index.
ALTER TABLE order_counts RENAME TO counts_by_block;

CREATE TABLE order_counts (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block)
) STRICT, WITHOUT ROWID;

INSERT INTO order_counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT book_id, level, block, symbol_code, trade_type, status, orders
FROM counts_by_block;

DROP TABLE counts_by_block;
