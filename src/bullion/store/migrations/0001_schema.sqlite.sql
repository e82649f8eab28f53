-- The orders of a kind, by ordinal. It contains every order; because of the condition only queries that repeat it use it.
CREATE INDEX orders_by_kind ON orders (book_id, status, symbol_code, trade_type, ordinal) WHERE book_id > 0;
