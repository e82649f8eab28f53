-- Some accounts of a broker from a login on, that one too if $3 is 1, with the part of their test books that a reset
-- has set aside and that is not in the archive yet; where there is none, it ends before it begins.
SELECT
    next_accounts.login_id,
    books.id AS book_id,
    books.archived_count AS last_ordinal,
    coalesce(
        (
            SELECT archived.last_ordinal
            FROM archived_orders AS archived
            WHERE archived.book_id = books.id
            ORDER BY archived.first_ordinal DESC
            LIMIT 1
        ),
        0
    ) + 1 AS first_ordinal
FROM (
    SELECT accounts.id, accounts.login_id
    FROM accounts
    WHERE accounts.broker = $1 AND accounts.login_id >= $2 AND (accounts.login_id > $2 OR $3 = 1)
    ORDER BY accounts.login_id
    LIMIT $4
) AS next_accounts
INNER JOIN books ON books.account_id = next_accounts.id AND books.environment = 'test'
ORDER BY next_accounts.login_id
