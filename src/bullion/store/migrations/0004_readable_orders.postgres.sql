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
    orders.quantity_e4 * 0.0001 AS quantity,
    CASE orders.metal WHEN 'gold' THEN 'g' ELSE 'kg' END AS unit,
    orders.price_paise * 0.01 AS price,
    orders.total_paise * 0.01 AS total,
    orders.status,
    orders.source,
    orders.client_order_id,
    orders.idempotency_key,
    orders.key_id,
    orders.request_id,
    orders.ordinal <= books.archived_count AS archived,
    to_timestamp(orders.created_at_us / 1000000.0) AS created_at
FROM orders
JOIN books ON books.id = orders.book_id
JOIN accounts ON accounts.id = books.account_id;

-- An empty broker is the market, whose feed all brokers share.
CREATE VIEW readable_ticks AS
SELECT
    broker,
    instrument,
    bid_e6 * 0.000001 AS bid,
    ask_e6 * 0.000001 AS ask,
    to_timestamp(at_us / 1000000.0) AS at,
    to_timestamp(moved_at_us / 1000000.0) AS moved_at
FROM ticks;

CREATE VIEW readable_duties AS
SELECT
    broker,
    name,
    from_date,
    rupees_paise * 0.01 AS rupees
FROM duties;
