-- Orders that were archived, many packed into one row.

-- name: archived_pack
-- The pack that has the order with this ordinal, if it is in the archive.
SELECT *
FROM archived_orders
WHERE book_id = $1 AND first_ordinal <= $2 AND last_ordinal >= $2
ORDER BY first_ordinal DESC
LIMIT 1

-- name: archived_packs
-- Oldest first.
SELECT * FROM archived_orders WHERE book_id = $1 AND first_ordinal > $2 ORDER BY first_ordinal LIMIT $3

-- fragment: ordinal_of_key
(
    SELECT named.ordinal
    FROM archived_keys AS named
    WHERE named.book_id = $1 AND named.source = $2 AND named.idempotency_key = $3
)

-- name: archived_by_key
-- The pack that has the order of this idempotency key, and the order's ordinal.
SELECT archived_orders.*, @ordinal_of_key AS ordinal
FROM archived_orders
WHERE book_id = $1 AND first_ordinal <= @ordinal_of_key
ORDER BY first_ordinal DESC
LIMIT 1

-- name: desk_archived_packs
-- The packs of a broker that may have the order created at $1 with the ordinal $2. There are several if accounts have
-- orders with the same ordinal in the same millisecond.
SELECT archived.*, accounts.login_id
FROM archived_keys AS named
INNER JOIN books ON books.id = named.book_id
INNER JOIN accounts ON accounts.id = books.account_id
INNER JOIN archived_orders AS archived
    ON
        archived.book_id = named.book_id
        AND archived.first_ordinal = (
            SELECT max(before.first_ordinal)
            FROM archived_orders AS before
            WHERE before.book_id = named.book_id AND before.first_ordinal <= named.ordinal
        )
WHERE named.made_at_ms = $1 AND named.ordinal = $2 AND accounts.broker = $3

-- name: archive_size
SELECT
    count(*) AS packs,
    CAST(coalesce(sum(archived.last_ordinal - archived.first_ordinal + 1), 0) AS BIGINT) AS orders,
    CAST(coalesce(sum(archived.plain_bytes), 0) AS BIGINT) AS plain_bytes,
    CAST(coalesce(sum(archived.packed_bytes), 0) AS BIGINT) AS packed_bytes
FROM accounts
INNER JOIN books ON books.account_id = accounts.id AND books.environment = 'test'
INNER JOIN archived_orders AS archived ON archived.book_id = books.id
WHERE accounts.broker = $1 AND (CAST($2 AS TEXT) IS NULL OR accounts.login_id = $2)

-- name: books_to_archive
-- Accounts of a broker after a login, or from it on if $3 is 1, with the part of their test books that a reset removed
-- from the lists and that is not archived yet. Where there is none, the last ordinal is below the first.
SELECT
    next_accounts.login_id,
    books.id AS book_id,
    books.archived_count AS last_ordinal,
    1 + coalesce((
        SELECT archived.last_ordinal FROM archived_orders AS archived
        WHERE archived.book_id = books.id ORDER BY archived.first_ordinal DESC LIMIT 1
    ), 0) AS first_ordinal
FROM (
    SELECT accounts.id, accounts.login_id
    FROM accounts
    WHERE accounts.broker = $1 AND accounts.login_id >= $2 AND (accounts.login_id > $2 OR $3 = 1)
    ORDER BY accounts.login_id
    LIMIT $4
) AS next_accounts
INNER JOIN books ON books.account_id = next_accounts.id AND books.environment = 'test'
ORDER BY next_accounts.login_id

-- name: orders_to_archive
SELECT * FROM orders WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal

-- name: insert_archived_orders
-- No row if another process archived them first.
INSERT INTO archived_orders (book_id, first_ordinal, last_ordinal, from_us, to_us, plain_bytes, packed_bytes, packed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (book_id, first_ordinal) DO NOTHING
RETURNING first_ordinal

-- name: insert_archived_keys
INSERT INTO archived_keys (book_id, source, idempotency_key, ordinal, made_at_ms)
SELECT book_id, source, idempotency_key, ordinal, created_at_us / 1000
FROM orders
WHERE book_id = $1 AND ordinal BETWEEN $2 AND $3

-- name: drop_archived_orders
-- Only orders that a reset removed from the lists.
DELETE FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN $2 AND $3
    AND ordinal <= (SELECT books.archived_count FROM books WHERE books.id = $1)
RETURNING ordinal
