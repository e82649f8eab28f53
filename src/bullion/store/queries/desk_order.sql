-- One order, archived or not.
SELECT orders.*, accounts.login_id, books.archived_count
FROM orders
INNER JOIN books ON books.id = orders.book_id
INNER JOIN accounts ON accounts.id = books.account_id
WHERE orders.id = $1 AND accounts.broker = $2
