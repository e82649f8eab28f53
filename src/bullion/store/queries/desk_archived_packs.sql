-- The packed orders among which the one that was made at $1 and has the ordinal $2 may be: of several accounts, if
-- they happened to do the same in the same millisecond. As for `desk_order`, no plan begins with the accounts.
SELECT archived.*, accounts.login_id
FROM (
    SELECT archived_keys.book_id, archived_keys.ordinal
    FROM archived_keys
    WHERE
        archived_keys.made_at_ms = $1
        AND archived_keys.ordinal = $2
        AND (
            SELECT accounts.broker
            FROM books
            INNER JOIN accounts ON accounts.id = books.account_id
            WHERE books.id = archived_keys.book_id
        ) = $3
    LIMIT 1000
) AS named
INNER JOIN archived_orders AS archived
    ON
        archived.book_id = named.book_id
        AND archived.first_ordinal = (
            SELECT max(before.first_ordinal)
            FROM archived_orders AS before
            WHERE before.book_id = named.book_id AND before.first_ordinal <= named.ordinal
        )
INNER JOIN books ON books.id = named.book_id
INNER JOIN accounts ON accounts.id = books.account_id
