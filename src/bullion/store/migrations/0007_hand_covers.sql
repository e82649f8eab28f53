-- oldest level: 1
-- What the desk noted about the cover of an order that it confirmed by hand: the price it dealt at, and the reference of
-- the deal at the exchange or counterparty. Both are optional. A table of its own: few orders have a row.
CREATE TABLE hand_covers (
    book_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    price_paise BIGINT CHECK (price_paise > 0),
    reference TEXT CHECK (length(reference) BETWEEN 1 AND 64),
    PRIMARY KEY (book_id, ordinal),
    CHECK (price_paise IS NOT NULL OR reference IS NOT NULL)
);

CREATE VIEW readable_hand_covers AS
SELECT
    accounts.broker, accounts.login_id, orders.id AS order_id,
    covers.price_paise * 0.01 AS price,
    covers.reference
FROM hand_covers AS covers
JOIN orders ON orders.book_id = covers.book_id AND orders.ordinal = covers.ordinal
JOIN books ON books.id = covers.book_id
JOIN accounts ON accounts.id = books.account_id;
