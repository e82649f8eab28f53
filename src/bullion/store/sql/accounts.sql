-- Accounts, and their names for the desk's search.

-- fragment: account_beside_key
-- An account in a row that has other columns too, such as those of a key.
accounts.id, accounts.broker, accounts.login_id, accounts.firm_name, accounts.group_code, accounts.active,
accounts.api_access, accounts.production_trading, accounts.scenarios,
accounts.created_at_us AS account_created_at_us

-- name: account_by_id
SELECT * FROM accounts WHERE id = $1

-- name: one_account
SELECT * FROM accounts WHERE broker = $1 AND login_id = $2

-- name: accounts_after
SELECT * FROM accounts WHERE id > $1 ORDER BY id LIMIT $2

-- name: accounts_page
SELECT * FROM accounts WHERE broker = $1 ORDER BY login_id LIMIT $2 OFFSET $3

-- name: count_accounts
SELECT count(*) AS total FROM accounts WHERE broker = $1

-- name: account_ids_after
SELECT id FROM accounts WHERE broker = $1 AND login_id > $2 ORDER BY login_id LIMIT $3

-- name: account_ids_by_use
-- Those whose last order, of either book, is the newest first. A book's id is twice its account's, plus one in
-- production.
SELECT accounts.id
FROM accounts
INNER JOIN books AS test ON accounts.id * 2 = test.id
INNER JOIN books AS live ON accounts.id * 2 + 1 = live.id
WHERE accounts.broker = $1
ORDER BY
    CASE WHEN live.last_order_at_us > test.last_order_at_us THEN live.last_order_at_us ELSE test.last_order_at_us END DESC,
    accounts.login_id
LIMIT $2 OFFSET $3

-- name: login_of_account
SELECT login_id FROM accounts WHERE id = $1

-- name: firm_names
SELECT accounts.login_id, accounts.firm_name
FROM @json_list($2)
@lookup_join accounts ON accounts.broker = $1 AND accounts.login_id = items.value

-- name: insert_account
-- The transaction has locked the catalogue's row, so no other session creates an account. Accounts of brokers that were
-- moved here are in ranges of their own (ACCOUNTS_IN_RANGE in bullion.allocation.book). The new number is in the first
-- range, and above the first number of every account: `ranges` has the last account of each.
WITH RECURSIVE ranges (last_id) AS (
    SELECT max(id) FROM accounts
    UNION ALL
    SELECT (SELECT max(id) FROM accounts WHERE id < ranges.last_id / 1000000000000 * 1000000000000)
    FROM ranges
    WHERE ranges.last_id >= 1000000000000
)

INSERT INTO accounts (
    id, broker, login_id, firm_name, group_code, active, api_access, production_trading, scenarios, created_at_us
)
SELECT
    coalesce(max(last_id % 1000000000000), 0) + 1,
    CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS BIGINT),
    CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS BIGINT)
FROM ranges
RETURNING id

-- name: update_account
UPDATE accounts
SET firm_name = $2, group_code = $3, active = $4, api_access = $5, production_trading = $6, scenarios = $7
WHERE id = $1

-- name: repair_account
-- For an account that cannot be read. `update_account` writes the rest.
UPDATE accounts SET created_at_us = $3 WHERE broker = $1 AND login_id = $2

-- fragment: names_of_accounts
SELECT id, login_id, lower(login_id) AS login, lower(coalesce(firm_name, '')) AS firm FROM accounts

-- name: account_names
@names_of_accounts
WHERE broker = $1 AND login_id > $2
ORDER BY login_id
LIMIT $3

-- name: one_account_name
@names_of_accounts
WHERE broker = $1 AND login_id = $2

-- name: account_before
-- The account whose login comes right before this one.
@names_of_accounts
WHERE broker = $1 AND login_id < $2
ORDER BY login_id DESC
LIMIT 1

-- name: account_changes
-- The logins of accounts that were created or changed after a version of the catalogue.
SELECT DISTINCT subject FROM changes WHERE version > $2 AND kind = 'account' AND broker = $1 LIMIT $3

-- name: lower_case
-- Lower case by the rules of the store's engine.
SELECT lower(CAST($1 AS TEXT)) AS text

-- fragment: summary_of_book(book)
{book}.gold_net_e4 AS {book}_gold_net_e4, {book}.silver_net_e4 AS {book}_silver_net_e4,
{book}.gold_limit_e4 AS {book}_gold_limit_e4, {book}.silver_limit_e4 AS {book}_silver_limit_e4,
{book}.order_count AS {book}_order_count, {book}.archived_count AS {book}_archived_count,
{book}.last_order_at_us AS {book}_last_order_at_us, {book}.version AS {book}_version

-- name: account_summaries
-- Accounts by their ids ($1, as JSON), each with its two books and the number of its keys that work at $2, and that
-- expire until $3. A book's id is twice its account's, plus one in production.
SELECT
    page.*,
    @summary_of_book(test),
    @summary_of_book(live),
    (
        SELECT count(*) FROM keys
        WHERE
            keys.account_id = page.id AND keys.revoked_at_us IS NULL
            AND (keys.expires_at_us IS NULL OR keys.expires_at_us > $2)
            AND (keys.overlap_ends_at_us IS NULL OR keys.overlap_ends_at_us > $2)
    ) AS working_keys,
    (
        SELECT count(*) FROM keys
        WHERE
            keys.account_id = page.id AND keys.revoked_at_us IS NULL AND keys.overlap_ends_at_us IS NULL
            AND keys.expires_at_us > $2 AND keys.expires_at_us <= $3
    ) AS expiring_keys
FROM @json_list($1)
@lookup_join accounts AS page ON page.id = CAST(items.value AS BIGINT)
@lookup_join books AS test ON test.id = page.id * 2
@lookup_join books AS live ON live.id = page.id * 2 + 1
