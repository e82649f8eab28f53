-- Groups of accounts and their terms for symbols.

-- name: all_groups
SELECT * FROM groups

-- name: one_group
SELECT * FROM groups WHERE broker = $1 AND code = $2

-- name: groups_page
SELECT * FROM groups WHERE broker = $1 ORDER BY code LIMIT $2 OFFSET $3

-- name: count_groups
SELECT count(*) AS total FROM groups WHERE broker = $1

-- name: put_group
INSERT INTO groups (broker, code, trading) VALUES ($1, $2, $3)
ON CONFLICT (broker, code) DO UPDATE SET trading = excluded.trading

-- name: all_terms
SELECT * FROM group_terms

-- name: terms_of_group
SELECT * FROM group_terms WHERE broker = $1 AND group_code = $2

-- name: terms_of_broker
SELECT * FROM group_terms WHERE broker = $1

-- name: groups_of_broker
SELECT * FROM groups WHERE broker = $1 ORDER BY code

-- name: insert_terms
INSERT INTO group_terms (
    broker, group_code, symbol_code, buy_premium_paise, sell_premium_paise, minimum_e4, maximum_e4, step_e4
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: drop_terms
DELETE FROM group_terms WHERE broker = $1 AND group_code = $2
