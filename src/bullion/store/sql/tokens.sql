-- Desk tokens.

-- name: delete_tokens_of_broker
UPDATE tokens SET deleted_at_us = $2 WHERE broker = $1 AND deleted_at_us IS NULL

-- name: one_token
SELECT * FROM tokens WHERE token_id = $1

-- fragment: tokens_with_use
-- With the last use, the number of open sessions, and whether the user has a second factor.
SELECT
    tokens.*,
    (SELECT token_uses.used_at_us FROM token_uses WHERE token_uses.token_id = tokens.token_id) AS used_at_us,
    (
        SELECT count(*)
        FROM desk_sessions
        WHERE
            desk_sessions.user_id = tokens.token_id
            AND desk_sessions.expires_at_us > @clock_us
            AND desk_sessions.used_at_us > @clock_us - desk_sessions.idle_us
    ) AS sessions,
    (
        SELECT count(*)
        FROM second_factors
        WHERE second_factors.user_id = tokens.token_id AND second_factors.confirmed_at_us IS NOT NULL
    ) AS has_factor
FROM tokens

-- name: one_used_token
@tokens_with_use
WHERE tokens.token_id = $1

-- name: tokens_page
@tokens_with_use
WHERE tokens.broker = $1
ORDER BY tokens.created_at_us DESC, tokens.token_id
LIMIT $2 OFFSET $3

-- name: count_tokens
SELECT count(*) AS total FROM tokens WHERE broker = $1

-- name: all_tokens
SELECT * FROM tokens WHERE deleted_at_us IS NULL

-- name: insert_token
INSERT INTO tokens (token_id, broker, name, role, secret_hash, created_at_us, secret_id)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: rehash_token
UPDATE tokens
SET secret_hash = $3, secret_id = $4
WHERE token_id = $1 AND secret_hash = $2 AND @is_secret_of_store($4)

-- name: record_token_uses
-- In the order of the ids in $1. The first token has no row here.
INSERT INTO token_uses (token_id, used_at_us)
SELECT items.value, CAST($2 AS BIGINT)
FROM @json_list($1)
WHERE (SELECT tokens.token_id FROM tokens WHERE tokens.token_id = items.value) IS NOT NULL
ON CONFLICT (token_id) DO UPDATE SET used_at_us = excluded.used_at_us
WHERE token_uses.used_at_us < excluded.used_at_us

-- name: update_token
UPDATE tokens SET name = $2, role = $3 WHERE token_id = $1

-- name: delete_token
UPDATE tokens SET deleted_at_us = $2 WHERE token_id = $1

-- name: repair_token
-- Replaces a token that cannot be read by a deleted one whose secret does not exist.
UPDATE tokens SET secret_hash = $2, created_at_us = $3, deleted_at_us = $3 WHERE token_id = $1
