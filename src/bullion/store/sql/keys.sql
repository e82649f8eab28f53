-- API keys, and when each was last used.

-- fragment: keys_with_use
SELECT keys.*, accounts.broker, accounts.login_id, key_uses.last_used_at_us
FROM keys
JOIN accounts ON accounts.id = keys.account_id
LEFT JOIN key_uses ON key_uses.key_id = keys.key_id

-- name: one_key
@keys_with_use
WHERE keys.key_id = $1

-- name: keys_page
@keys_with_use
WHERE keys.account_id = $1
ORDER BY keys.created_at_us DESC, keys.key_id
LIMIT $2 OFFSET $3

-- name: count_keys
SELECT count(*) AS total FROM keys WHERE account_id = $1

-- name: keys_between
SELECT * FROM keys WHERE account_id > $1 AND account_id <= $2

-- fragment: nearest_key (postgres)
INNER JOIN LATERAL (
    SELECT * FROM keys AS nearest WHERE nearest.key_id >= items.value ORDER BY nearest.key_id LIMIT 1
) AS keys ON true

-- fragment: nearest_key (sqlite)
CROSS JOIN keys ON keys.key_id = (SELECT min(nearest.key_id) FROM keys AS nearest WHERE nearest.key_id >= items.value)

-- name: some_keys
-- The keys of these ids, each with its account. For an unknown id the next key is returned, so that looking for it
-- takes as long as for a known one.
SELECT
    keys.*,
    @account_beside_key
FROM @json_list($1)
@nearest_key
@lookup_join accounts ON accounts.id = keys.account_id

-- name: insert_key
INSERT INTO keys (
    key_id, account_id, environment, name, scopes, secret_hash, allowed_addresses, created_at_us, expires_at_us,
    secret_id
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: rehash_keys
-- Replaces the hashes of keys by those of the deployment's new secret: id, old hash, new hash; $2 names the secret.
-- No-op if that is not the store's secret: a node that started before the exchange must not undo it.
UPDATE keys
SET secret_hash = @item(2), secret_id = $2
FROM @json_rows($1)
WHERE keys.key_id = (@item(0)) AND keys.secret_hash = (@item(1)) AND @is_secret_of_store($2)

-- name: count_hashes
-- Keys and tokens whose hashes were made with another secret than $1, and how many of them are in force at $2.
SELECT
    'keys' AS kind,
    count(*) AS total,
    coalesce(sum(CASE WHEN secret_id <> $1 THEN 1 ELSE 0 END), 0) AS others,
    coalesce(sum(
        CASE
            WHEN
                secret_id <> $1
                AND revoked_at_us IS NULL
                AND (expires_at_us IS NULL OR expires_at_us > $2)
                AND (overlap_ends_at_us IS NULL OR overlap_ends_at_us > $2)
                THEN 1
            ELSE 0
        END
    ), 0) AS in_force
FROM keys
UNION ALL
SELECT
    'tokens',
    count(*),
    coalesce(sum(CASE WHEN secret_id <> $1 THEN 1 ELSE 0 END), 0),
    coalesce(sum(CASE WHEN secret_id <> $1 AND deleted_at_us IS NULL THEN 1 ELSE 0 END), 0)
FROM tokens

-- name: revoke_key
UPDATE keys SET revoked_at_us = $2 WHERE key_id = $1

-- name: replace_key
UPDATE keys SET replaced_by = $2, overlap_ends_at_us = $3 WHERE key_id = $1

-- name: repair_key
-- Replaces a key that cannot be read by a revoked one whose secret does not exist.
UPDATE keys
SET
    scopes = '', allowed_addresses = '', secret_hash = $2, created_at_us = $3, expires_at_us = NULL,
    replaced_by = NULL, overlap_ends_at_us = NULL, revoked_at_us = $3
WHERE key_id = $1

-- name: record_key_uses
-- In the order of the ids in $1, so that two nodes that record the same keys cannot deadlock.
INSERT INTO key_uses (key_id, last_used_at_us)
SELECT @item(0), CAST(@item(1) AS BIGINT)
FROM @json_rows($1)
WHERE (SELECT keys.key_id FROM keys WHERE keys.key_id = @item(0)) IS NOT NULL
ON CONFLICT (key_id) DO UPDATE SET last_used_at_us = excluded.last_used_at_us
WHERE key_uses.last_used_at_us < excluded.last_used_at_us
