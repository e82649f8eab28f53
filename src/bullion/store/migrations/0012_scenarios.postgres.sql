-- Whether an account may ask the test environment for a scenario: an answer that is made up, to try a program with.
ALTER TABLE accounts ADD COLUMN scenarios BIGINT NOT NULL DEFAULT 0 CHECK (scenarios IN (0, 1));

-- Replaced, not made anew: whoever was allowed to read it still is. A new column can only stand at its end.
CREATE OR REPLACE VIEW readable_accounts AS
SELECT
    accounts.broker,
    accounts.login_id,
    accounts.firm_name,
    accounts.group_code,
    accounts.active = 1 AS active,
    accounts.api_access = 1 AS api_access,
    accounts.production_trading = 1 AS production_trading,
    to_timestamp(accounts.created_at_us / 1000000.0) AS created_at,
    accounts.scenarios = 1 AS scenarios
FROM accounts;
