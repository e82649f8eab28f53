-- Second factors of the desk's users, and who needs one.

-- name: one_second_factor
SELECT * FROM second_factors WHERE user_id = $1

-- name: all_second_factors
SELECT * FROM second_factors ORDER BY user_id

-- name: put_unconfirmed_factor
-- Nothing if the user has a confirmed one.
INSERT INTO second_factors (user_id, encrypted_secret, secret_id, created_at_us, confirmed_at_us, last_step)
VALUES ($1, $2, $3, $4, NULL, 0)
ON CONFLICT (user_id) DO UPDATE SET
    encrypted_secret = excluded.encrypted_secret, secret_id = excluded.secret_id,
    created_at_us = excluded.created_at_us
WHERE second_factors.confirmed_at_us IS NULL

-- name: confirm_factor
UPDATE second_factors
SET confirmed_at_us = $2, last_step = $3
WHERE user_id = $1 AND confirmed_at_us IS NULL AND encrypted_secret = $4
RETURNING user_id

-- name: use_factor_step
-- A row if nobody has used a code of this step or a later one.
UPDATE second_factors SET last_step = $2
WHERE user_id = $1 AND last_step < $2 AND confirmed_at_us IS NOT NULL
RETURNING user_id

-- name: use_recovery_code
DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id

-- name: insert_recovery_code
INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)

-- name: count_recovery_codes
SELECT count(*) AS total FROM recovery_codes WHERE user_id = $1

-- name: delete_recovery_codes
DELETE FROM recovery_codes WHERE user_id = $1

-- name: delete_second_factor
DELETE FROM second_factors WHERE user_id = $1

-- name: reencrypt_factor
-- Nothing if $4 is not the store's secret: a process that started before an exchange must not undo it.
UPDATE second_factors
SET encrypted_secret = $3, secret_id = $4
WHERE user_id = $1 AND encrypted_secret = $2 AND @is_secret_of_store($4)

-- name: one_second_factor_rule
SELECT required FROM second_factor_rules WHERE broker = $1

-- name: put_second_factor_rule
INSERT INTO second_factor_rules (broker, required) VALUES ($1, $2)
ON CONFLICT (broker) DO UPDATE SET required = excluded.required
