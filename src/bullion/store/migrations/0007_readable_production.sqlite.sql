-- More for people who look into the store: the life of production orders, their hedges, and the simulated venue.
-- Nothing of the service uses these.

DROP VIEW readable_orders;

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
    strftime('%Y-%m-%d %H:%M:%S', orders.created_at_us / 1000000, 'unixepoch') || printf('.%06d+00', orders.created_at_us % 1000000) AS created_at,
    orders.deal_no,
    iif(orders.close_price_paise IS NULL, NULL, iif(orders.close_price_paise < 0, '-', '') || printf('%d.%02d', abs(orders.close_price_paise) / 100, abs(orders.close_price_paise) % 100)) AS close_price,
    iif(orders.realized_pnl_paise IS NULL, NULL, iif(orders.realized_pnl_paise < 0, '-', '') || printf('%d.%02d', abs(orders.realized_pnl_paise) / 100, abs(orders.realized_pnl_paise) % 100)) AS realized_pnl,
    strftime('%Y-%m-%d %H:%M:%S', orders.closed_at_us / 1000000, 'unixepoch') || printf('.%06d+00', orders.closed_at_us % 1000000) AS closed_at
FROM orders
JOIN books ON books.id = orders.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_order_events AS
SELECT
    orders.id AS order_id,
    events.status,
    strftime('%Y-%m-%d %H:%M:%S', events.at_us / 1000000, 'unixepoch') || printf('.%06d+00', events.at_us % 1000000) AS at,
    events.actor,
    events.words
FROM order_events AS events
JOIN orders ON orders.book_id = events.book_id AND orders.ordinal = events.ordinal;

CREATE VIEW readable_hedge_requests AS
SELECT
    hedges.broker,
    accounts.login_id,
    hedges.order_id,
    hedges.instrument,
    orders.trade_type,
    printf('%d.%04d', orders.quantity_e4 / 10000, orders.quantity_e4 % 10000) AS quantity,
    orders.status AS order_status,
    hedges.state,
    hedges.outcome,
    hedges.execution_id,
    hedges.words,
    hedges.tries,
    strftime('%Y-%m-%d %H:%M:%S', hedges.due_at_us / 1000000, 'unixepoch') || printf('.%06d+00', hedges.due_at_us % 1000000) AS due_at,
    strftime('%Y-%m-%d %H:%M:%S', hedges.answered_at_us / 1000000, 'unixepoch') || printf('.%06d+00', hedges.answered_at_us % 1000000) AS answered_at,
    hedges.resolved_by,
    hedges.resolution
FROM hedge_requests AS hedges
JOIN orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
JOIN books ON books.id = hedges.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_venue_orders AS
SELECT
    broker,
    order_id,
    instrument,
    trade_type,
    printf('%d.%04d', quantity_e4 / 10000, quantity_e4 % 10000) AS quantity,
    submissions,
    outcome,
    execution_id,
    strftime('%Y-%m-%d %H:%M:%S', executed_at_us / 1000000, 'unixepoch') || printf('.%06d+00', executed_at_us % 1000000) AS executed_at
FROM venue_orders;

CREATE VIEW readable_open_weights AS
SELECT
    accounts.broker,
    accounts.login_id,
    weights.symbol_code,
    weights.metal,
    printf('%d.%04d', weights.buy_e4 / 10000, weights.buy_e4 % 10000) AS buy,
    printf('%d.%04d', weights.sell_e4 / 10000, weights.sell_e4 % 10000) AS sell
FROM open_weights AS weights
JOIN books ON books.id = weights.book_id
JOIN accounts ON accounts.id = books.account_id;
