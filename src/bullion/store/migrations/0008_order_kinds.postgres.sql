-- The orders of a kind, by their ordinals. The counts say which kinds a book has and how many of each; this leads
-- to them, however few there are among the others. Every order is in it: the condition is there so that only
-- queries which repeat it can go this way. No other plan, made while the tables were small, takes it by mistake.
CREATE INDEX orders_by_kind ON orders (book_id, status, symbol_code, trade_type, ordinal) WHERE metal <> '';

-- The counts of a kind side by side, so that those of other kinds are not read with them.
ALTER TABLE order_counts DROP CONSTRAINT order_counts_pkey;
ALTER TABLE order_counts ADD PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block);
