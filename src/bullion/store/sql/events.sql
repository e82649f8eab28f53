-- Events of accounts: see the migration 0023 for how they are numbered.

-- fragment: newest_number
order_count + event_shift

-- fragment: first_event(column, book)
(SELECT first.{column} FROM account_events AS first WHERE first.book_id = {book} ORDER BY number, orders_through LIMIT 1)

-- fragment: event_span(book)
books.order_count, books.event_shift,
    @first_event(number, {book}) AS first_number,
    @first_event(kind, {book}) AS first_kind

-- name: event_range
-- The newest number of a book, its orders, and where the numbers begin that can still be read. The first row that is
-- kept is a start: what came before it is too old, or older than the numbering.
SELECT @event_span($1) FROM books WHERE books.id = $1

-- name: newest_events (postgres)
SELECT id, @newest_number AS newest FROM books WHERE id = ANY ($1::BIGINT [])

-- name: newest_events (sqlite)
WITH asked (id) AS (VALUES $rows)

SELECT books.id, @newest_number AS newest FROM asked CROSS JOIN books ON books.id = asked.id

-- fragment: event_marks(book, after, most)
-- The rows of a book after a number, at most so many of each table, and the last row of each table up to the number.
SELECT * FROM (
        SELECT number, orders_through, kind, at_us, CAST(NULL AS BIGINT) AS ordinal, detail
        FROM account_events
        WHERE book_id = {book} AND number <= {after}
        ORDER BY number DESC, orders_through DESC
        LIMIT 1
    ) AS account_base
    UNION ALL
    SELECT * FROM (
        SELECT number, orders_through, status, at_us, ordinal, CAST(NULL AS TEXT)
        FROM order_events
        WHERE book_id = {book} AND number <= {after} AND number IS NOT NULL
        ORDER BY book_id DESC, number DESC
        LIMIT 1
    ) AS order_base
    UNION ALL
    SELECT * FROM (
        SELECT number, orders_through, kind, at_us, CAST(NULL AS BIGINT), detail
        FROM account_events
        WHERE book_id = {book} AND number > {after}
        ORDER BY number, orders_through
        LIMIT {most}
    ) AS account_next
    UNION ALL
    SELECT * FROM (
        SELECT number, orders_through, status, at_us, ordinal, CAST(NULL AS TEXT)
        FROM order_events
        WHERE book_id = {book} AND number > {after} AND number IS NOT NULL
        ORDER BY book_id, number
        LIMIT {most}
    ) AS order_next

-- name: event_pages (postgres)
-- The same as event_range, with the rows to read next, for many books and numbers at once: streams of many accounts
-- share one round trip.
SELECT asked.place, @event_span(asked.book_id), marks.*
FROM unnest($1::BIGINT [], $2::BIGINT []) WITH ORDINALITY AS asked (book_id, after, place)
-- With a limit, PostgreSQL looks up each book, and never joins the whole table.
CROSS JOIN LATERAL (SELECT * FROM books WHERE books.id = asked.book_id LIMIT 1) AS books
LEFT JOIN LATERAL (
    @event_marks(asked.book_id, asked.after, $3)
) AS marks ON TRUE
ORDER BY asked.place, marks.number, marks.orders_through

-- name: event_page (sqlite)
-- The same for one book.
SELECT 1 AS place, @event_span($1), marks.*
FROM books
LEFT JOIN (
    @event_marks($1, $2, $3)
) AS marks ON TRUE
WHERE books.id = $1
ORDER BY marks.number, marks.orders_through

-- name: number_event
-- The number of the next event of a book. The transaction has locked the book, or does so here.
UPDATE books SET event_shift = event_shift + 1 WHERE id = $1
RETURNING @newest_number AS number, order_count

-- name: number_events (sqlite)
-- This many events in each of these books.
WITH told (book_id, events) AS (VALUES $rows)

UPDATE books SET event_shift = event_shift + told.events FROM told WHERE books.id = told.book_id

-- name: insert_account_event
INSERT INTO account_events (book_id, number, orders_through, kind, at_us, detail) VALUES ($1, $2, $3, $4, $5, $6)

-- name: hide_order (sqlite)
-- An order that the API hides takes no number. One at a time, in the order of the ordinals.
UPDATE books SET event_shift = event_shift - 1 WHERE id = $1
RETURNING event_shift

-- name: insert_broker_event
-- The numbers have no gaps: the change holds the lock of the catalogue.
INSERT INTO broker_events (broker, number, kind, at_us, detail)
SELECT CAST($1 AS TEXT), coalesce(max(number), 0) + 1, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT)
FROM broker_events
WHERE broker = $1

-- name: broker_events_to_enter
SELECT broker, max(number) AS number FROM broker_events WHERE entered = 0 GROUP BY broker ORDER BY broker

-- fragment: skip_locked (postgres)
FOR UPDATE SKIP LOCKED

-- fragment: skip_locked (sqlite)

-- fragment: skip_locked_books (postgres)
FOR UPDATE OF books SKIP LOCKED

-- fragment: skip_locked_books (sqlite)

-- name: books_behind
-- Books of a broker that lack its events up to $2. Books that are locked now are left for the next round: an order never
-- waits for a notice, nor a notice for an order.
SELECT books.id
FROM accounts
@lookup_join books ON books.account_id = accounts.id
WHERE accounts.broker = $1 AND books.broker_events_through < $2 AND books.id > $3
ORDER BY books.id
LIMIT $4
@skip_locked_books

-- name: any_book_behind
SELECT 1 AS found
FROM accounts
@lookup_join books ON books.account_id = accounts.id
WHERE accounts.broker = $1 AND books.broker_events_through < $2
LIMIT 1

-- name: enter_broker_events
-- The events up to $2 into the locked books in $3.
INSERT INTO account_events (book_id, number, orders_through, kind, at_us, detail)
SELECT
    books.id,
    @newest_number + events.number - books.broker_events_through,
    books.order_count, events.kind, events.at_us, events.detail
FROM @json_list($3)
@lookup_join books ON books.id = CAST(items.value AS BIGINT)
@lookup_join broker_events AS events
    ON events.broker = $1 AND events.number > books.broker_events_through AND events.number <= $2

-- name: note_entered
UPDATE books
SET event_shift = event_shift + CAST($1 AS BIGINT) - broker_events_through, broker_events_through = $1
WHERE id IN (SELECT CAST(items.value AS BIGINT) FROM @json_list($2))

-- name: finish_broker_events
UPDATE broker_events SET entered = 1 WHERE broker = $1 AND number <= $2 AND entered = 0

-- name: old_events
-- What happened before $1, the oldest first.
SELECT book_id, number, orders_through
FROM account_events
WHERE at_us < $1 AND kind <> 'start'
ORDER BY at_us
LIMIT $2
@skip_locked

-- name: forget_events
-- What a book has before a row.
DELETE FROM account_events WHERE book_id = $1 AND (number, orders_through) < ($2, $3)

-- name: start_events
-- Numbers up to this row cannot be read any more.
UPDATE account_events SET kind = 'start', detail = '{}' WHERE book_id = $1 AND number = $2 AND orders_through = $3

-- name: lock_free_book
-- No row if another session has locked it.
SELECT id FROM books WHERE id = $1
@skip_locked

-- name: insert_late_event
INSERT INTO late_events (book_id, id, kind, at_us, detail) VALUES ($1, $2, $3, $4, $5)

-- name: late_events
SELECT book_id, id, kind, at_us, detail FROM late_events ORDER BY at_us, book_id, id LIMIT $1

-- name: delete_late_event
DELETE FROM late_events WHERE book_id = $1 AND id = $2 RETURNING id
