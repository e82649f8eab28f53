-- They are in the archive now. Only what a reset has set aside goes.
DELETE FROM orders
WHERE
    book_id = $1
    AND ordinal BETWEEN $2 AND $3
    AND ordinal <= (SELECT books.archived_count FROM books WHERE books.id = $1)
RETURNING ordinal
