-- The hedge book of each broker and metal: its position, its entries, and the orders that its limit holds back.

-- fragment: for_key_share(table) (postgres)
-- Opening a book locks the table against this: see `lock_book_positions`.
FOR KEY SHARE OF {table}

-- fragment: for_key_share(table) (sqlite)
-- SQLite has one writer.

-- fragment: for_no_key_update (postgres)
-- Who only looks whether there is a book, with @for_key_share, does not wait for this.
FOR NO KEY UPDATE

-- fragment: for_no_key_update (sqlite)
-- SQLite has one writer.

-- name: keeps_books
-- Whether any broker keeps a book.
SELECT 1 AS kept FROM book_positions
LIMIT 1
@for_key_share(book_positions)

-- name: book_of_order
-- The broker whose book an order of this metal belongs to, if that book is open, with what its fine weight needs.
SELECT
    positions.broker,
    (SELECT fineness_e4 FROM hedge_requests WHERE book_id = $1 AND ordinal = $2) AS fineness_e4,
    coalesce((SELECT fine_mg_taken FROM hedge_rests WHERE book_id = $1 AND ordinal = $2), 0) AS uncovered_mg
FROM book_positions AS positions
WHERE
    positions.broker = (SELECT broker FROM hedge_requests WHERE book_id = $1 AND ordinal = $2)
    AND positions.metal = $3
@for_key_share(positions)

-- fragment: open_since(client, cover, at)
-- Since when the broker has not been flat.
CASE
    WHEN positions.client_mg + {client} + positions.cover_mg + {cover} = 0 THEN NULL
    ELSE coalesce(positions.open_since_us, {at})
END

-- name: move_book_position
UPDATE book_positions AS positions
SET
    open_since_us = @open_since($3, $4, $5), client_mg = client_mg + $3, cover_mg = cover_mg + $4, version = version + 1
WHERE broker = $1 AND metal = $2
RETURNING version

-- name: move_book_position_by (sqlite)
-- By $6 entries at once.
UPDATE book_positions AS positions
SET
    open_since_us = @open_since($3, $4, $5), client_mg = client_mg + $3, cover_mg = cover_mg + $4,
    version = version + $6
WHERE broker = $1 AND metal = $2

-- fragment: book_entry_columns
broker, metal, ordinal, kind, name, client_mg, cover_mg, at_us

-- name: insert_book_entry
INSERT INTO book_entries (@book_entry_columns) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: insert_book_entries (sqlite)
INSERT INTO book_entries (@book_entry_columns) VALUES $rows

-- name: lock_book_positions (postgres)
-- Before a book is opened: every transaction that changes orders reads the table first, or updates it. So those that
-- began before have ended, and their orders are in the sum; and those that begin later find the book.
LOCK TABLE book_positions IN EXCLUSIVE MODE

-- name: lock_book_positions (sqlite)
SELECT 1

-- name: lock_deals
-- Locked before a book's position, as by the statements that confirm orders.
INSERT INTO deals (broker, last_deal_no) VALUES ($1, 0)
ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no

-- name: lock_free_books (postgres)
SELECT id FROM books WHERE id = ANY ($1::BIGINT []) ORDER BY id FOR UPDATE SKIP LOCKED

-- name: lock_book_position
SELECT * FROM book_positions WHERE broker = $1 AND metal = $2
@for_no_key_update

-- name: one_book_position
SELECT * FROM book_positions WHERE broker = $1 AND metal = $2

-- name: book_positions_of_broker
SELECT * FROM book_positions WHERE broker = $1 ORDER BY metal

-- name: all_book_positions
SELECT * FROM book_positions ORDER BY broker, metal

-- name: insert_book_position
INSERT INTO book_positions (
    broker, metal, policy, limit_mg, volatility_e4, client_mg, cover_mg, version, opened_at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)

-- name: set_book_terms
UPDATE book_positions SET policy = $3, limit_mg = $4, volatility_e4 = $5 WHERE broker = $1 AND metal = $2

-- name: note_book_terms
-- From the next entry on. The position must be locked.
INSERT INTO book_terms (broker, metal, after_ordinal, policy, limit_mg)
SELECT broker, metal, version, policy, limit_mg FROM book_positions WHERE broker = $1 AND metal = $2
ON CONFLICT (broker, metal, after_ordinal) DO UPDATE SET policy = excluded.policy, limit_mg = excluded.limit_mg

-- name: terms_of_book
SELECT after_ordinal, policy, limit_mg FROM book_terms WHERE broker = $1 AND metal = $2 ORDER BY after_ordinal

-- name: deals_of_metal
-- The weights of a broker's deals in a metal, by side and fineness.
SELECT
    orders.trade_type, orders.quantity_e4, hedges.fineness_e4, count(*) AS orders
FROM accounts
@lookup_join orders ON orders.book_id = accounts.id * 2 + 1
@lookup_join hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
WHERE accounts.broker = $1 AND orders.metal = $2 AND orders.status IN ('open', 'closing')
GROUP BY 1, 2, 3

-- fragment: waiting_order
SELECT orders.*, hedges.broker, hedges.instrument, hedges.took_stock, hedges.fineness_e4, hedges.tries

-- name: waiting_orders
-- Pending orders that a book may confirm: those that its limit has held back, or that a node left when it stopped,
-- oldest first; and those in $5 (book and ordinal), which nobody has judged yet.
SELECT *
FROM (
    @waiting_order
    FROM hedge_requests AS hedges
    @lookup_join orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
    WHERE
        hedges.broker = $1
        AND hedges.state = 'waiting'
        AND hedges.venue = 'book'
        AND (hedges.tries > 0 OR hedges.due_at_us < $3)
        AND orders.metal = $2
        AND orders.status = 'pending'
    ORDER BY hedges.order_id
    LIMIT $4
) AS held
UNION
SELECT *
FROM (
    @waiting_order
    FROM @json_rows($5)
    @lookup_join hedge_requests AS hedges
        ON hedges.book_id = CAST(@item(0) AS BIGINT) AND hedges.ordinal = CAST(@item(1) AS BIGINT)
    @lookup_join orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
    WHERE hedges.broker = $1 AND hedges.state = 'waiting' AND hedges.venue = 'book' AND orders.metal = $2 AND orders.status = 'pending'
) AS fresh

-- name: held_order
-- Whether any order may wait for room in a hedge book: see `books_with_held_orders`.
SELECT 1 AS found
FROM hedge_requests
WHERE state = 'waiting' AND venue = 'book' AND (tries > 0 OR due_at_us < $1)
ORDER BY due_at_us
LIMIT 1

-- name: books_with_held_orders
SELECT hedges.broker, orders.metal, orders.trade_type, orders.quantity_e4, hedges.fineness_e4, count(*) AS orders
FROM hedge_requests AS hedges
@lookup_join orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
WHERE
    hedges.state = 'waiting'
    AND hedges.venue = 'book'
    AND (hedges.tries > 0 OR hedges.due_at_us < $1)
    AND orders.status = 'pending'
GROUP BY 1, 2, 3, 4, 5

-- name: hold_hedge
UPDATE hedge_requests
SET tries = tries + 1, words = $3
WHERE book_id = $1 AND ordinal = $2 AND @state('waiting') AND tries = 0

-- name: verify_book_sums
-- The positions of all hedge books, with the sums of their entries and of the fills of covers.
SELECT
    positions.broker, positions.metal, positions.client_mg, positions.cover_mg, positions.version,
    (SELECT count(*) FROM book_entries AS entries WHERE @of_position) AS entries,
    (SELECT coalesce(CAST(sum(client_mg) AS BIGINT), 0) FROM book_entries AS entries WHERE @of_position) AS entered_client_mg,
    (SELECT coalesce(CAST(sum(cover_mg) AS BIGINT), 0) FROM book_entries AS entries WHERE @of_position) AS entered_cover_mg,
    (
        SELECT coalesce(CAST(sum(cover_mg) AS BIGINT), 0) FROM book_entries AS entries
        WHERE @of_position AND entries.kind = 'fill'
    ) AS entered_fills_mg,
    (
        SELECT coalesce(CAST(sum(CASE WHEN covers.side = 'buy' THEN fills.fine_mg ELSE -fills.fine_mg END) AS BIGINT), 0)
        FROM covers
        INNER JOIN cover_fills AS fills ON fills.cover_id = covers.id
        WHERE covers.broker = positions.broker AND covers.metal = positions.metal
    ) AS fills_mg
FROM book_positions AS positions
ORDER BY positions.broker, positions.metal

-- fragment: of_position
entries.broker = positions.broker AND entries.metal = positions.metal
