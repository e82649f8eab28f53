-- An account's archived orders, pack by pack, oldest first.
SELECT archived.*
FROM archived_orders AS archived
WHERE archived.book_id = $1 AND archived.first_ordinal > $2
ORDER BY archived.first_ordinal
LIMIT $3
