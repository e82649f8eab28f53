-- Whether an account may ask the test environment for a scenario: an answer that is made up, to try a program with.
ALTER TABLE accounts ADD COLUMN scenarios BIGINT NOT NULL DEFAULT 0 CHECK (scenarios IN (0, 1));

DROP VIEW readable_accounts;

CREATE VIEW readable_accounts AS
SELECT
    accounts.broker,
    accounts.login_id,
    accounts.firm_name,
    accounts.group_code,
    iif(accounts.active, 'yes', 'no') AS active,
    iif(accounts.api_access, 'yes', 'no') AS api_access,
    iif(accounts.production_trading, 'yes', 'no') AS production_trading,
    strftime('%Y-%m-%d %H:%M:%S', accounts.created_at_us / 1000000, 'unixepoch') || printf('.%06d+00', accounts.created_at_us % 1000000) AS created_at,
    iif(accounts.scenarios, 'yes', 'no') AS scenarios
FROM accounts;
