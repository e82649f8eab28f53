-- More for people who look into the store: the life of production orders, their hedges, and the simulated venue.
-- Nothing of the service uses these.

-- Replaced, not made anew: whoever was allowed to read it still is.
CREATE OR REPLACE VIEW readable_orders AS
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
    to_timestamp(orders.created_at_us / 1000000.0) AS created_at,
    orders.deal_no,
    orders.close_price_paise * 0.01 AS close_price,
    orders.realized_pnl_paise * 0.01 AS realized_pnl,
    to_timestamp(orders.closed_at_us / 1000000.0) AS closed_at
FROM orders
JOIN books ON books.id = orders.book_id
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_order_events AS
SELECT
    orders.id AS order_id,
    events.status,
    to_timestamp(events.at_us / 1000000.0) AS at,
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
    orders.quantity_e4 * 0.0001 AS quantity,
    orders.status AS order_status,
    hedges.state,
    hedges.outcome,
    hedges.execution_id,
    hedges.words,
    hedges.tries,
    to_timestamp(hedges.due_at_us / 1000000.0) AS due_at,
    to_timestamp(hedges.answered_at_us / 1000000.0) AS answered_at,
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
    quantity_e4 * 0.0001 AS quantity,
    submissions,
    outcome,
    execution_id,
    to_timestamp(executed_at_us / 1000000.0) AS executed_at
FROM venue_orders;

CREATE VIEW readable_open_weights AS
SELECT
    accounts.broker,
    accounts.login_id,
    weights.symbol_code,
    weights.metal,
    weights.buy_e4 * 0.0001 AS buy,
    weights.sell_e4 * 0.0001 AS sell
FROM open_weights AS weights
JOIN books ON books.id = weights.book_id
JOIN accounts ON accounts.id = books.account_id;
