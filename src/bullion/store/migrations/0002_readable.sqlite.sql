-- For people who look into the store: decimals, times and yes or no as they are read. Nothing of the
-- service uses these, and no secret's hash is in them.

CREATE VIEW readable_accounts AS
SELECT
    accounts.broker,
    accounts.login_id,
    accounts.firm_name,
    accounts.group_code,
    iif(accounts.active, 'yes', 'no') AS active,
    iif(accounts.api_access, 'yes', 'no') AS api_access,
    iif(accounts.production_trading, 'yes', 'no') AS production_trading,
    strftime('%Y-%m-%d %H:%M:%S', accounts.created_at_us / 1000000, 'unixepoch') || printf('.%06d+00', accounts.created_at_us % 1000000) AS created_at
FROM accounts;

CREATE VIEW readable_books AS
SELECT
    accounts.broker,
    accounts.login_id,
    books.environment,
    iif(books.gold_net_e4 < 0, '-', '') || printf('%d.%04d', abs(books.gold_net_e4) / 10000, abs(books.gold_net_e4) % 10000) AS gold_net_g,
    iif(books.gold_limit_e4 < 0, '-', '') || printf('%d.%04d', abs(books.gold_limit_e4) / 10000, abs(books.gold_limit_e4) % 10000) AS gold_limit_g,
    iif(books.silver_net_e4 < 0, '-', '') || printf('%d.%04d', abs(books.silver_net_e4) / 10000, abs(books.silver_net_e4) % 10000) AS silver_net_kg,
    iif(books.silver_limit_e4 < 0, '-', '') || printf('%d.%04d', abs(books.silver_limit_e4) / 10000, abs(books.silver_limit_e4) % 10000) AS silver_limit_kg,
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
    strftime('%Y-%m-%d %H:%M:%S', keys.created_at_us / 1000000, 'unixepoch') || printf('.%06d+00', keys.created_at_us % 1000000) AS created_at,
    strftime('%Y-%m-%d %H:%M:%S', keys.expires_at_us / 1000000, 'unixepoch') || printf('.%06d+00', keys.expires_at_us % 1000000) AS expires_at,
    strftime('%Y-%m-%d %H:%M:%S', keys.revoked_at_us / 1000000, 'unixepoch') || printf('.%06d+00', keys.revoked_at_us % 1000000) AS revoked_at,
    keys.replaced_by,
    strftime('%Y-%m-%d %H:%M:%S', keys.overlap_ends_at_us / 1000000, 'unixepoch') || printf('.%06d+00', keys.overlap_ends_at_us % 1000000) AS overlap_ends_at,
    strftime('%Y-%m-%d %H:%M:%S', key_uses.last_used_at_us / 1000000, 'unixepoch') || printf('.%06d+00', key_uses.last_used_at_us % 1000000) AS last_used_at
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id;

CREATE VIEW readable_symbols AS
SELECT
    symbols.broker,
    symbols.code,
    symbols.metal,
    iif(symbols.quoted_weight_e4 < 0, '-', '') || printf('%d.%04d', abs(symbols.quoted_weight_e4) / 10000, abs(symbols.quoted_weight_e4) % 10000) AS quoted_weight,
    iif(symbols.trading, 'yes', 'no') AS trading,
    iif(symbols.frozen, 'yes', 'no') AS frozen,
    iif(symbols.minimum_e4 < 0, '-', '') || printf('%d.%04d', abs(symbols.minimum_e4) / 10000, abs(symbols.minimum_e4) % 10000) AS minimum,
    iif(symbols.maximum_e4 < 0, '-', '') || printf('%d.%04d', abs(symbols.maximum_e4) / 10000, abs(symbols.maximum_e4) % 10000) AS maximum,
    iif(symbols.step_e4 < 0, '-', '') || printf('%d.%04d', abs(symbols.step_e4) / 10000, abs(symbols.step_e4) % 10000) AS step,
    iif(stocks.weight_e4 IS NULL, NULL, printf('%d.%04d', stocks.weight_e4 / 10000, stocks.weight_e4 % 10000)) AS stock,
    symbols.pricing
FROM symbols
LEFT JOIN stocks ON stocks.broker = symbols.broker AND stocks.symbol_code = symbols.code;

CREATE VIEW readable_audit AS
SELECT
    broker,
    ordinal,
    strftime('%Y-%m-%d %H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06d+00', at_us % 1000000) AS at,
    actor,
    action,
    subject,
    before,
    after
FROM audit;
