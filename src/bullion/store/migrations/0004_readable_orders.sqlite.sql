-- More for people who look into the store: orders, rates and duties. Nothing of the service uses these.

CREATE VIEW readable_orders AS
SELECT
    accounts.broker,
    accounts.login_id,
    books.environment,
    orders.ordinal,
    orders.id,
    orders.symbol_code,
    orders.trade_type,
    printf('%d.%04d', orders.quantity_e4 / 10000, orders.quantity_e4 % 10000) AS quantity,
    iif(orders.metal = 'gold', 'g', 'kg') AS unit,
    iif(orders.price_paise IS NULL, NULL, printf('%d.%02d', orders.price_paise / 100, orders.price_paise % 100)) AS price,
    iif(orders.total_paise IS NULL, NULL, printf('%d.%02d', orders.total_paise / 100, orders.total_paise % 100)) AS total,
    orders.status,
    orders.source,
    orders.client_order_id,
    orders.idempotency_key,
    orders.key_id,
    orders.request_id,
    iif(orders.ordinal <= books.archived_count, 'yes', 'no') AS archived,
    strftime('%Y-%m-%d %H:%M:%S', orders.created_at_us / 1000000, 'unixepoch') || printf('.%06d+00', orders.created_at_us % 1000000) AS created_at
FROM orders
JOIN books ON books.id = orders.book_id
JOIN accounts ON accounts.id = books.account_id;

-- An empty broker is the market, whose feed all brokers share.
CREATE VIEW readable_ticks AS
SELECT
    broker,
    instrument,
    printf('%d.%06d', bid_e6 / 1000000, bid_e6 % 1000000) AS bid,
    printf('%d.%06d', ask_e6 / 1000000, ask_e6 % 1000000) AS ask,
    strftime('%Y-%m-%d %H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06d+00', at_us % 1000000) AS at,
    strftime('%Y-%m-%d %H:%M:%S', moved_at_us / 1000000, 'unixepoch') || printf('.%06d+00', moved_at_us % 1000000) AS moved_at
FROM ticks;

CREATE VIEW readable_duties AS
SELECT
    broker,
    name,
    from_date,
    printf('%d.%02d', rupees_paise / 100, rupees_paise % 100) AS rupees
FROM duties;
