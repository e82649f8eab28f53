SELECT
    count(*) AS packs,
    CAST(coalesce(sum(archived.last_ordinal - archived.first_ordinal + 1), 0) AS BIGINT) AS orders,
    CAST(coalesce(sum(archived.plain_bytes), 0) AS BIGINT) AS plain_bytes,
    CAST(coalesce(sum(archived.packed_bytes), 0) AS BIGINT) AS packed_bytes
FROM accounts
INNER JOIN books ON books.account_id = accounts.id AND books.environment = 'test'
INNER JOIN archived_orders AS archived ON archived.book_id = books.id
WHERE accounts.broker = $1 AND (CAST($2 AS TEXT) IS NULL OR accounts.login_id = $2)
