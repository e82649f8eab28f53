-- Sessions of the console.

-- name: one_session
-- The columns of the user's token, which are null for the first token; those of the session, and of what it needs;
-- the store's clock.
SELECT
    tokens.*, desk_sessions.session_hash, desk_sessions.user_id, desk_sessions.broker AS session_broker,
    desk_sessions.role AS session_role, desk_sessions.created_at_us AS begun_at_us, desk_sessions.used_at_us,
    desk_sessions.expires_at_us, desk_sessions.idle_us, desk_sessions.first_token_hash, desk_sessions.second_factor,
    second_factors.confirmed_at_us, second_factor_rules.required, @clock_us AS clock_us
FROM desk_sessions
LEFT JOIN tokens ON tokens.token_id = desk_sessions.user_id
LEFT JOIN second_factors ON second_factors.user_id = desk_sessions.user_id
LEFT JOIN second_factor_rules ON second_factor_rules.broker = desk_sessions.broker
WHERE desk_sessions.session_hash = $1

-- name: insert_session
INSERT INTO desk_sessions (
    session_hash, user_id, broker, role, first_token_hash, created_at_us, used_at_us, expires_at_us, idle_us,
    second_factor
) VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)

-- name: record_session_uses
UPDATE desk_sessions
SET used_at_us = CAST($2 AS BIGINT)
FROM @json_list($1)
WHERE desk_sessions.session_hash = items.value AND desk_sessions.used_at_us < CAST($2 AS BIGINT)

-- name: delete_session
DELETE FROM desk_sessions WHERE session_hash = $1

-- name: delete_user_sessions
DELETE FROM desk_sessions WHERE user_id = $1

-- name: ask_sessions_for_code_again
-- Of a user whose second factor is gone: a code of it is no code of the next one.
UPDATE desk_sessions SET second_factor = 0 WHERE user_id = $1

-- name: delete_sessions_of_broker
DELETE FROM desk_sessions WHERE broker = $1

-- name: delete_old_sessions
-- Those that have expired at $1, or were not used for too long then.
DELETE FROM desk_sessions WHERE expires_at_us <= $1 OR used_at_us <= $1 - idle_us

-- name: delete_excess_sessions
-- All sessions of a user but the $2 that were used last.
DELETE FROM desk_sessions
WHERE
    user_id = $1
    AND session_hash NOT IN (
        SELECT newest.session_hash
        FROM desk_sessions AS newest
        WHERE newest.user_id = $1
        ORDER BY newest.used_at_us DESC, newest.session_hash
        LIMIT $2
    )
