-- For people who look into the store: decimals, times and yes or no as they are read. Nothing of the
-- service uses these, and no secret's hash is in them.

CREATE VIEW readable_accounts AS
SELECT
    accounts.broker,
    accounts.login_id,
    accounts.firm_name,
    accounts.group_code,
    accounts.active = 1 AS active,
    accounts.api_access = 1 AS api_access,
    accounts.production_trading = 1 AS production_trading,
    to_timestamp(accounts.created_at_us / 1000000.0) AS created_at
FROM accounts;

CREATE VIEW readable_books AS
SELECT
    accounts.broker,
    accounts.login_id,
    books.environment,
    books.gold_net_e4 * 0.0001 AS gold_net_g,
    books.gold_limit_e4 * 0.0001 AS gold_limit_g,
    books.silver_net_e4 * 0.0001 AS silver_net_kg,
    books.silver_limit_e4 * 0.0001 AS silver_limit_kg,
    books.order_count
FROM books
JOIN accounts ON accounts.id = books.account_id;

CREATE VIEW readable_keys AS
SELECT
    accounts.broker,
    accounts.login_id,
    keys.key_id,
    keys.environment,
    keys.name,
    keys.scopes,
    keys.allowed_addresses,
    to_timestamp(keys.created_at_us / 1000000.0) AS created_at,
    to_timestamp(keys.expires_at_us / 1000000.0) AS expires_at,
    to_timestamp(keys.revoked_at_us / 1000000.0) AS revoked_at,
    keys.replaced_by,
    to_timestamp(keys.overlap_ends_at_us / 1000000.0) AS overlap_ends_at,
    to_timestamp(key_uses.last_used_at_us / 1000000.0) AS last_used_at
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id;

CREATE VIEW readable_symbols AS
SELECT
    symbols.broker,
    symbols.code,
    symbols.metal,
    symbols.quoted_weight_e4 * 0.0001 AS quoted_weight,
    symbols.trading = 1 AS trading,
    symbols.frozen = 1 AS frozen,
    symbols.minimum_e4 * 0.0001 AS minimum,
    symbols.maximum_e4 * 0.0001 AS maximum,
    symbols.step_e4 * 0.0001 AS step,
    stocks.weight_e4 * 0.0001 AS stock,
    symbols.pricing
FROM symbols
LEFT JOIN stocks ON stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code;

CREATE VIEW readable_audit AS
SELECT
    broker,
    ordinal,
    to_timestamp(at_us / 1000000.0) AS at,
    actor,
    action,
    subject,
    before,
    after
FROM audit;
