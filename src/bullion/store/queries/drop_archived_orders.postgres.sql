-- They are in the archive now. Only what a reset has set aside goes. By their places in the table, found in their
-- order: a plan for an empty table might else go through all keys of the book.
DELETE FROM orders
WHERE
    ctid = ANY (
        ARRAY(
            SELECT set_aside.ctid
            FROM orders AS set_aside
            WHERE
                set_aside.book_id = $1
                AND set_aside.ordinal BETWEEN $2 AND $3
                AND set_aside.ordinal <= (SELECT books.archived_count FROM books WHERE books.id = $1)
            ORDER BY set_aside.ordinal
        )
    )
RETURNING ordinal
