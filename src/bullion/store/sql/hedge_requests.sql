-- Hedge requests: requests to the venue to hedge production orders.

-- name: one_hedge
SELECT * FROM hedge_requests WHERE book_id = $1 AND ordinal = $2

-- name: hedge_with_rest
SELECT hedges.*, @rest_columns, rests.stopped AS rest_stopped, rests.fine_mg_taken AS rest_fine_mg_taken
FROM hedge_requests AS hedges
@join_rest
WHERE hedges.book_id = $1 AND hedges.ordinal = $2

-- name: hedge_due
SELECT 1 AS due FROM hedge_requests WHERE state = 'waiting' AND due_at_us < $1 AND venue = $2 ORDER BY due_at_us LIMIT 1

-- fragment: due_requests
SELECT book_id, ordinal
FROM hedge_requests
WHERE state = 'waiting' AND due_at_us < $3 AND venue = $5
ORDER BY due_at_us
LIMIT $4

-- name: claim_hedges (postgres)
-- Leases the requests that are due to this node until $2.
WITH due AS MATERIALIZED (
    @due_requests
    FOR UPDATE SKIP LOCKED
)

UPDATE hedge_requests
SET holder = $1, due_at_us = $2
FROM due
WHERE hedge_requests.book_id = due.book_id AND hedge_requests.ordinal = due.ordinal

-- name: claim_hedges (sqlite)
UPDATE hedge_requests SET holder = $1, due_at_us = $2 WHERE (book_id, ordinal) IN (@due_requests)

-- fragment: rest_columns
rests.child AS rest_child, rests.quantity_e4 AS rest_e4, rests.fine_mg AS rest_fine_mg

-- fragment: join_rest
-- Only few orders have a rest.
LEFT JOIN hedge_rests AS rests ON rests.book_id = hedges.book_id AND rests.ordinal = hedges.ordinal

-- name: claimed_hedges
SELECT
    orders.*, hedges.broker, hedges.instrument, hedges.took_stock, hedges.fineness_e4, hedges.tries, @rest_columns
FROM hedge_requests AS hedges
@lookup_join orders ON orders.book_id = hedges.book_id AND orders.ordinal = hedges.ordinal
@join_rest
WHERE hedges.state = 'waiting' AND hedges.holder = $1 AND hedges.due_at_us = $2

-- fragment: state(name)
-- A query instead of the value: a generic plan cannot use the index of all that waits (or is broken), which looks as
-- good as the primary key while it is empty.
state = (SELECT {name})

-- name: postpone_hedges
-- Each by book, ordinal, due time and message. Only by its holder: a node whose lease expired must not shorten the lease
-- of the node that took over. Not if it is due at $3, never: a report came before the call ended, and the rest waits for
-- the desk.
UPDATE hedge_requests
SET due_at_us = told.due_at_us, tries = hedge_requests.tries + 1, words = told.message
FROM (
    SELECT
        CAST(@item(0) AS BIGINT) AS book_id, CAST(@item(1) AS BIGINT) AS ordinal, CAST(@item(2) AS BIGINT) AS due_at_us,
        @item(3) AS message
    FROM @json_rows($1)
) AS told
WHERE
    hedge_requests.book_id @only(told.book_id)
    AND hedge_requests.ordinal = told.ordinal
    AND @state('waiting')
    AND hedge_requests.holder = $2
    AND hedge_requests.due_at_us < $3

-- fragment: first_fill
-- The execution of the first part of the order that was filled; null if none was.
(
    SELECT parts.execution_id
    FROM hedge_parts AS parts
    WHERE parts.book_id = $1 AND parts.ordinal = $2 AND parts.quantity_e4 > 0
    ORDER BY parts.child
    LIMIT 1
)

-- name: withdraw_hedge
-- If a part of the order was filled, it becomes a break. $3 is the time.
UPDATE hedge_requests
SET
    state = CASE WHEN @first_fill IS NULL THEN 'withdrawn' ELSE 'broken' END,
    outcome = CASE WHEN @first_fill IS NOT NULL THEN 'confirmed' END,
    execution_id = @first_fill,
    answered_at_us = CASE WHEN @first_fill IS NOT NULL THEN CAST($3 AS BIGINT) END
WHERE book_id = $1 AND ordinal = $2 AND @state('waiting')

-- name: resolve_break
UPDATE hedge_requests
SET state = 'answered', resolved_by = $3, resolution = $4
WHERE book_id = $1 AND ordinal = $2 AND @state('broken')
RETURNING ordinal

-- name: answer_hedge
UPDATE hedge_requests
SET state = $3, outcome = $4, execution_id = $5, words = $6, answered_at_us = $7
WHERE book_id = $1 AND ordinal = $2

-- fragment: fill_id(execution, broker, venue, sent, at)
-- See `given_again` of bullion.hedge.venue.
CASE
    WHEN EXISTS (
        SELECT 1
        FROM hedge_fills AS others
        WHERE
            others.broker = {broker}
            AND others.execution_id = {execution}
            AND others.venue = {venue}
            AND others.order_id <> {sent}
            AND others.at_us <> {at}
    )
        THEN {execution} || '~' || {sent}
    ELSE {execution}
END

-- name: insert_fill
-- A fill that is known does not change.
INSERT INTO hedge_fills (book_id, ordinal, execution_id, broker, venue, order_id, quantity_e8, price_e6, at_us)
VALUES ($1, $2, @fill_id($3, $4, $5, $6, $9), $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING

-- name: insert_fills (postgres)
-- Many at once.
INSERT INTO hedge_fills (book_id, ordinal, execution_id, broker, venue, order_id, quantity_e8, price_e6, at_us)
SELECT
    told.book_id, told.ordinal, @fill_id(told.execution_id, told.broker, told.venue, told.order_id, told.at_us),
    told.broker, told.venue, told.order_id, told.quantity_e8, told.price_e6, told.at_us
FROM (
    SELECT
        CAST(@item(0) AS BIGINT) AS book_id, CAST(@item(1) AS BIGINT) AS ordinal, @item(2) AS execution_id,
        @item(3) AS broker, @item(4) AS venue, @item(5) AS order_id, CAST(@item(6) AS BIGINT) AS quantity_e8,
        CAST(@item(7) AS BIGINT) AS price_e6, CAST(@item(8) AS BIGINT) AS at_us
    FROM @json_rows($1)
) AS told
ORDER BY told.execution_id
ON CONFLICT DO NOTHING

-- name: fills_of_order
SELECT * FROM hedge_fills WHERE book_id = $1 AND ordinal = $2 ORDER BY at_us, execution_id

-- name: put_rest
INSERT INTO hedge_rests (book_id, ordinal, child, quantity_e4, fine_mg, stopped, fine_mg_taken)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (book_id, ordinal) DO UPDATE
SET
    child = excluded.child, quantity_e4 = excluded.quantity_e4, fine_mg = excluded.fine_mg,
    stopped = excluded.stopped, fine_mg_taken = excluded.fine_mg_taken

-- name: release_rest
-- The desk has decided, or the order has its answer: the rest no longer waits for the desk.
UPDATE hedge_rests SET stopped = 0 WHERE book_id = $1 AND ordinal = $2

-- name: take_rest
UPDATE hedge_rests SET fine_mg_taken = fine_mg WHERE book_id = $1 AND ordinal = $2

-- name: send_rest_again
UPDATE hedge_rests SET child = child + 1 WHERE book_id = $1 AND ordinal = $2

-- name: one_part
SELECT * FROM hedge_parts WHERE book_id = $1 AND ordinal = $2 AND child = $3

-- name: filled_before_child
-- What the venue filled of an order under the ids that were sent before this child.
SELECT
    CAST(coalesce(sum(quantity_e4), 0) AS BIGINT) AS quantity_e4,
    CAST(coalesce(sum(fine_mg), 0) AS BIGINT) AS fine_mg
FROM hedge_parts
WHERE book_id = $1 AND ordinal = $2 AND child < $3

-- name: first_filled_part
SELECT @first_fill AS execution_id

-- name: insert_part
INSERT INTO hedge_parts (book_id, ordinal, child, order_id, execution_id, quantity_e4, fine_mg, at_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: wait_for_rest
-- The request waits for the answer to the next child, from $3 on.
UPDATE hedge_requests
SET due_at_us = $3, tries = 0, words = $4
WHERE book_id = $1 AND ordinal = $2 AND @state('waiting')

-- name: put_cover
INSERT INTO hand_covers (book_id, ordinal, price_paise, reference) VALUES ($1, $2, $3, $4)
ON CONFLICT (book_id, ordinal) DO UPDATE SET price_paise = excluded.price_paise, reference = excluded.reference

-- name: covers_of_orders
-- What the desk noted about the covers of these orders (book and ordinal). Most orders have none.
SELECT covers.*
FROM @json_rows($1)
@lookup_join hand_covers AS covers
    ON covers.book_id = CAST(@item(0) AS BIGINT) AND covers.ordinal = CAST(@item(1) AS BIGINT)

-- name: hedges_waiting
SELECT count(*) AS requests, min(order_id) AS oldest FROM hedge_requests WHERE state = 'waiting'

-- name: hedges_elsewhere
-- Orders that wait for a venue which nodes that hedge at $1 do not ask. The desk answers its own orders always.
SELECT venue, count(*) AS orders
FROM hedge_requests
WHERE state = 'waiting' AND venue NOT IN ('book', 'desk', $1)
GROUP BY venue
ORDER BY venue

-- name: hedges_broken
SELECT
    (SELECT count(*) FROM hedge_requests WHERE state = 'broken')
    + (SELECT count(*) FROM unmatched_executions WHERE resolved_by IS NULL) AS breaks,
    (SELECT count(*) FROM hedge_rests WHERE stopped = 1) AS partly_covered

-- fragment: hedges_in(state)
-- Oldest orders first.
SELECT
    orders.*, accounts.login_id, books.archived_count, page.instrument, page.venue, page.state, page.tries,
    page.words, page.due_at_us, page.outcome, page.execution_id, page.answered_at_us, page.resolved_by, page.resolution,
    page.fineness_e4,
    @rest_columns, rests.stopped AS rest_stopped, rests.fine_mg_taken AS rest_fine_mg_taken
FROM (
    SELECT *
    FROM hedge_requests
    WHERE broker = $1 AND state = {state}
    ORDER BY order_id
    LIMIT $2 OFFSET $3
) AS page
@lookup_join orders ON orders.book_id = page.book_id AND orders.ordinal = page.ordinal
@lookup_join books ON books.id = page.book_id
@lookup_join accounts ON accounts.id = books.account_id
LEFT JOIN hedge_rests AS rests ON rests.book_id = page.book_id AND rests.ordinal = page.ordinal
ORDER BY page.order_id

-- name: hedge_queue
@hedges_in('waiting')

-- name: hedge_queue_count
SELECT count(*) AS total FROM hedge_requests WHERE broker = $1 AND state = 'waiting'

-- name: hedge_breaks
@hedges_in('broken')

-- name: hedge_breaks_count
SELECT count(*) AS total FROM hedge_requests WHERE broker = $1 AND state = 'broken'

-- name: hedge_gaps
-- By how much the clients' weight is more than what the venue has covered, per metal, from requests that wait and from
-- breaks. A fill of an order that is no deal, or a second fill, covers too much; a refused deal is not covered.
SELECT
    orders.metal,
    CAST(sum(
        (CASE WHEN orders.trade_type = 'buy' THEN 1 ELSE -1 END)
        * (
            CASE
                WHEN gaps.state = 'broken' AND gaps.outcome = 'confirmed'
                    THEN coalesce(rests.quantity_e4, 0) - orders.quantity_e4
                WHEN gaps.state = 'broken' AND orders.status IN ('open', 'closing') THEN orders.quantity_e4
                WHEN gaps.state = 'waiting' AND orders.status = 'pending'
                    THEN coalesce(rests.quantity_e4, orders.quantity_e4)
                WHEN gaps.state = 'waiting' THEN coalesce(rests.quantity_e4 - orders.quantity_e4, 0)
                ELSE 0
            END
        )
    ) AS BIGINT) AS gap_e4,
    CAST(sum(CASE WHEN gaps.state = 'waiting' THEN 1 ELSE 0 END) AS BIGINT) AS waiting,
    CAST(sum(CASE WHEN gaps.state = 'broken' THEN 1 ELSE 0 END) AS BIGINT) AS breaks
FROM (
    SELECT book_id, ordinal, state, outcome FROM hedge_requests WHERE broker = $1 AND state = 'waiting'
    UNION ALL
    SELECT book_id, ordinal, state, outcome FROM hedge_requests WHERE broker = $1 AND state = 'broken'
) AS gaps
@lookup_join orders ON orders.book_id = gaps.book_id AND orders.ordinal = gaps.ordinal
LEFT JOIN hedge_rests AS rests ON rests.book_id = gaps.book_id AND rests.ordinal = gaps.ordinal
GROUP BY orders.metal

-- name: hedged_order
-- A production order with its hedge request and rest.
SELECT
    orders.*, hedges.broker, hedges.instrument, hedges.took_stock, hedges.fineness_e4,
    hedges.outcome AS hedge_outcome, hedges.execution_id AS hedge_execution_id, @rest_columns
FROM orders
@lookup_join hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
@join_rest
WHERE orders.id = $1

-- name: accounted_executions
-- Order and id of those executions in $1 that the hedge request of their order has, with the order's side and weight.
SELECT @item(0) AS order_id, @item(1) AS execution_id
FROM @json_rows($1)
@lookup_join orders ON orders.id = @item(0)
@lookup_join hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
WHERE
    hedges.broker = $2
    AND hedges.outcome = 'confirmed'
    AND hedges.execution_id = @item(1)
    AND orders.trade_type = @item(2)
    AND orders.quantity_e4 = CAST(@item(3) AS BIGINT)

-- name: accounted_parts
-- The same for orders that were filled in parts, whose weights may differ by up to $3 because they are rounded.
SELECT parts.order_id, parts.execution_id
FROM @json_rows($1)
@lookup_join orders ON orders.id = substr(@item(0), 1, 36)
@lookup_join hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
@lookup_join hedge_parts AS parts ON parts.book_id = orders.book_id AND parts.ordinal = orders.ordinal
WHERE
    hedges.broker = $2
    AND parts.order_id = @item(0)
    AND parts.execution_id = @item(1)
    AND orders.trade_type = @item(2)
    AND abs(parts.quantity_e4 - CAST(@item(3) AS BIGINT)) <= $3

-- name: confirm_orders (postgres)
-- Orders that the venue confirmed become deals: many in one statement, which is its own transaction, with the same
-- effect as `order_changes` one by one. It does not wait for a book that another session has locked. The orders of such
-- a book, orders that are no longer pending, and those that the venue filled in part before, are not returned.
--
-- Orders are updated by their place in the table (see `change_order`): one that was changed meanwhile has moved, and is
-- not pending. $1 are the confirmations, $2 their books.
WITH @free_orders,

numbers AS (
    @take_deal_nos(free)
),

@make_deals

-- name: confirm_in_book (postgres)
-- `confirm_orders` for orders that the book of $5 (broker) and $6 (metal) confirms, without a transaction around it: if
-- there is room for all of them, whatever their order, and no order waits for a book of the broker. Otherwise none.
--
-- Whoever confirms a broker's orders, or holds them back, updates its row in `deals`. If that happened since this
-- statement began, it cannot see all orders that wait, and confirms none.
WITH @free_orders,

fitting AS MATERIALIZED (
    SELECT orders, weight_mg
    FROM (SELECT count(*) AS orders, sum(abs(client_mg)) AS weight_mg FROM free) AS free_orders
    WHERE
        orders > 0
        AND orders = (
            SELECT count(*)
            FROM free
            INNER JOIN hedge_requests AS hedges
                ON hedges.book_id @only(free.book_id) AND hedges.ordinal = free.ordinal
            WHERE @state('waiting') AND hedges.venue = 'book'
        )
        AND EXISTS (
            SELECT 1 FROM book_positions AS positions
            WHERE positions.broker = $5 AND positions.metal = $6 AND @has_room(weight_mg)
        )
        AND (
            SELECT hedges.order_id
            FROM hedge_requests AS hedges
            WHERE
                -- A range in the order of the index of a broker's requests that wait (see @primary_key). Otherwise a
                -- generic plan reads those of all brokers, which are many while the venue of one is down.
                hedges.broker BETWEEN $5 AND $5
                AND hedges.state = 'waiting'
                AND hedges.venue = 'book'
                AND (hedges.tries > 0 OR hedges.due_at_us < $3)
            ORDER BY hedges.broker, hedges.order_id
            LIMIT 1
        ) IS NULL
),

taken AS (
    INSERT INTO deals AS deals (broker, last_deal_no)
    SELECT $5, orders FROM fitting
    ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + excluded.last_deal_no
    WHERE deals.xmin = (SELECT seen.xmin FROM deals AS seen WHERE seen.broker = $5)
    RETURNING broker, last_deal_no
),

-- Locked after the deal numbers, as everywhere. The position may have changed since the statement began.
numbers AS MATERIALIZED (
    SELECT taken.broker, taken.last_deal_no
    FROM taken
    CROSS JOIN fitting
    CROSS JOIN book_positions AS positions
    WHERE positions.broker = $5 AND positions.metal = $6 AND @has_room(fitting.weight_mg)
    @for_no_key_update OF positions
),

@make_deals

-- fragment: has_room(weight)
abs(positions.client_mg + positions.cover_mg) + {weight} <= positions.limit_mg

-- fragment: free_orders
-- Of the confirmations $1 those whose books, in $2, no other session has locked.
wanted AS MATERIALIZED (
    SELECT
        CAST(@item(0) AS BIGINT) AS book_id, CAST(@item(1) AS BIGINT) AS ordinal, @item(2) AS broker,
        @item(3) AS execution_id, CAST(@item(4) AS BIGINT) AS client_mg, CAST(@item(5) AS BIGINT) AS cover_mg,
        CAST(@item(6) AS BIGINT) AS nth
    FROM @json_rows($1)
),

held AS MATERIALIZED (
    SELECT id, unsummed_from, order_count, event_shift
    FROM books
    WHERE id = ANY ($2::BIGINT [])
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),

-- A book whose blocks were summed since this statement began is skipped too: the statement cannot see those counts.
locked AS MATERIALIZED (
    SELECT held.*
    FROM held
    INNER JOIN books AS seen ON seen.id @only(held.id) AND seen.unsummed_from = held.unsummed_from
),

free AS MATERIALIZED (
    SELECT wanted.*, locked.order_count, locked.event_shift
    FROM wanted
    INNER JOIN locked ON locked.id = wanted.book_id
)

-- fragment: make_deals
-- Of the orders in `free`, with `numbers`: the last deal number of each broker.
dealt AS MATERIALIZED (
    SELECT
        free.*,
        (SELECT orders.ctid FROM orders @primary_key(free.book_id, free.ordinal)) AS place,
        @filled_before(free) AS filled_before,
        numbers.last_deal_no + 1
        - row_number() OVER (PARTITION BY free.broker ORDER BY free.book_id DESC, free.ordinal DESC) AS deal_no
    FROM free
    INNER JOIN numbers ON numbers.broker = free.broker
),

booked AS (
    UPDATE orders
    SET status = 'open', deal_no = dealt.deal_no
    FROM dealt
    WHERE orders.ctid = dealt.place AND orders.status = 'pending' AND NOT dealt.filled_before
    RETURNING
        orders.*, dealt.execution_id, dealt.broker, dealt.client_mg, dealt.cover_mg, dealt.nth, dealt.order_count,
        dealt.event_shift
),

@tell_and_answer,

-- The hedge book, of brokers that keep one.
moved AS (
    UPDATE book_positions AS positions
    SET
        open_since_us = @open_since(sums.client_mg, sums.cover_mg, $3),
        client_mg = positions.client_mg + sums.client_mg,
        cover_mg = positions.cover_mg + sums.cover_mg,
        version = positions.version + sums.orders
    FROM (
        SELECT
            broker, metal, sum(client_mg)::BIGINT AS client_mg, sum(cover_mg)::BIGINT AS cover_mg, count(*) AS orders
        FROM booked
        GROUP BY 1, 2
    ) AS sums
    WHERE positions.broker @only(sums.broker) AND positions.metal = sums.metal
    RETURNING positions.broker, positions.metal, positions.version - sums.orders AS version_before
),

entered AS (
    INSERT INTO book_entries (@book_entry_columns)
    SELECT
        moved.broker, moved.metal,
        moved.version_before + row_number() OVER (PARTITION BY moved.broker, moved.metal ORDER BY booked.nth),
        'deal', booked.id, booked.client_mg, booked.cover_mg, $3
    FROM moved
    INNER JOIN booked ON booked.broker = moved.broker AND booked.metal = moved.metal
),

-- Orders whose block is summed: most are newer.
counted_before AS MATERIALIZED (
    SELECT booked.*
    FROM booked
    INNER JOIN locked ON locked.id = booked.book_id
    WHERE booked.ordinal < locked.unsummed_from
),

kinds AS MATERIALIZED (
    SELECT
        kinds.book_id, levels.level, kinds.ordinal / levels.size AS block, kinds.symbol_code, kinds.trade_type,
        kinds.status, sum(kinds.change) AS change
    FROM (
        SELECT
            book_id, ordinal, symbol_code, trade_type, -1 AS change,
            CASE WHEN source = 'api' THEN 'pending' ELSE 'pending elsewhere' END AS status
        FROM counted_before
        UNION ALL
        SELECT book_id, ordinal, symbol_code, trade_type, 1, status FROM counted_before
        UNION ALL
        SELECT book_id, ordinal, '', '', 1, 'shown' FROM counted_before WHERE source <> 'api'
    ) AS kinds
    CROSS JOIN block_levels AS levels
    GROUP BY 1, 2, 3, 4, 5, 6
),

uncounted AS (
    UPDATE block_counts AS counts
    SET orders = counts.orders + kinds.change
    FROM kinds
    WHERE kinds.change < 0 AND @counts_of(kinds)
),

counted AS (
    @insert_counts
    SELECT book_id, level, block, symbol_code, trade_type, status, change FROM kinds WHERE change > 0
    @add_counts
)

SELECT book_id, ordinal, deal_no FROM booked

-- fragment: tell_and_answer
-- Of the orders in `booked`: their events, and the venue's answers.
events AS (
    INSERT INTO order_events (book_id, ordinal, status, at_us, actor, words, number, orders_through)
    SELECT
        book_id, ordinal, 'open', $3, $4, 'execution ' || execution_id,
        order_count + event_shift + row_number() OVER (PARTITION BY book_id ORDER BY ordinal),
        order_count
    FROM booked
),

numbered AS (
    UPDATE books
    SET event_shift = books.event_shift + opened.orders
    FROM (SELECT book_id, count(*) AS orders FROM booked GROUP BY book_id) AS opened
    WHERE books.id @only(opened.book_id)
),

answered AS (
    UPDATE hedge_requests
    SET
        state = 'answered', outcome = 'confirmed', execution_id = booked.execution_id,
        words = 'execution ' || booked.execution_id, answered_at_us = $3
    FROM booked
    WHERE hedge_requests.book_id @only(booked.book_id) AND hedge_requests.ordinal = booked.ordinal
)

-- fragment: filled_before(order)
-- Whether the venue filled a part of the order before.
EXISTS (
    SELECT 1 FROM hedge_rests AS rests WHERE rests.book_id = {order}.book_id AND rests.ordinal = {order}.ordinal
)

-- name: confirm_newest (postgres)
-- The same as `confirm_orders`, with half of its parts: for orders whose block is not summed yet, which most are, and of
-- brokers that keep no hedge book. All others are not returned. A row without an order names a broker that keeps one.
WITH wanted AS MATERIALIZED (
    SELECT
        CAST(@item(0) AS BIGINT) AS book_id, CAST(@item(1) AS BIGINT) AS ordinal, @item(2) AS broker,
        @item(3) AS execution_id
    FROM @json_rows($1)
),

held AS MATERIALIZED (
    SELECT id, unsummed_from, order_count, event_shift
    FROM books
    WHERE id = ANY ($2::BIGINT [])
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),

kept AS MATERIALIZED (
    SELECT positions.broker
    FROM (SELECT DISTINCT broker FROM wanted) AS brokers
    CROSS JOIN LATERAL (
        -- A range in the order of the primary key: see @primary_key.
        SELECT book_positions.broker
        FROM book_positions
        WHERE book_positions.broker BETWEEN brokers.broker AND brokers.broker
        ORDER BY book_positions.broker, book_positions.metal
        LIMIT 1
        @for_key_share(book_positions)
    ) AS positions
),

dealt AS MATERIALIZED (
    SELECT
        wanted.*, held.order_count, held.event_shift,
        (SELECT orders.ctid FROM orders @primary_key(wanted.book_id, wanted.ordinal)) AS place
    FROM wanted
    INNER JOIN held ON held.id = wanted.book_id
    WHERE
        wanted.ordinal >= held.unsummed_from
        AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.broker = wanted.broker)
        AND NOT @filled_before(wanted)
),

numbers AS (
    @take_deal_nos(dealt)
),

booked AS (
    UPDATE orders
    SET status = 'open', deal_no = numbered.deal_no
    FROM (
        SELECT
            dealt.*,
            numbers.last_deal_no + 1
            - row_number() OVER (PARTITION BY dealt.broker ORDER BY dealt.book_id DESC, dealt.ordinal DESC) AS deal_no
        FROM dealt
        INNER JOIN numbers ON numbers.broker = dealt.broker
    ) AS numbered
    WHERE orders.ctid = numbered.place AND orders.status = 'pending'
    RETURNING
        orders.book_id, orders.ordinal, orders.deal_no, numbered.execution_id, numbered.order_count,
        numbered.event_shift
),

@tell_and_answer

SELECT book_id, ordinal, deal_no, NULL AS keeps_book FROM booked
UNION ALL
SELECT NULL, NULL, NULL, broker FROM kept

-- fragment: take_deal_nos(deals)
-- Deal numbers are taken after the books are locked, as everywhere. They may have gaps.
INSERT INTO deals AS deals (broker, last_deal_no)
SELECT {deals}.broker, count(*)
FROM {deals}
GROUP BY {deals}.broker
ORDER BY {deals}.broker
ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + excluded.last_deal_no
RETURNING broker, last_deal_no

-- name: confirming_state (sqlite)
-- What confirmations are checked against, in one row: which of the orders in $1 (book and ordinal) are pending and were
-- not filled in part; the books in $2; and the hedge books of the brokers in $3.
SELECT
    (
        SELECT json_group_array(json_array(orders.book_id, orders.ordinal))
        FROM @json_rows($1)
        CROSS JOIN orders ON orders.book_id = @item(0) AND orders.ordinal = @item(1)
        WHERE
            orders.status = 'pending'
            AND NOT EXISTS (
                SELECT 1 FROM hedge_rests AS rests
                WHERE rests.book_id = orders.book_id AND rests.ordinal = orders.ordinal
            )
    ) AS pending,
    (
        SELECT json_group_array(json_array(books.id, order_count, event_shift, unsummed_from))
        FROM @json_list($2)
        CROSS JOIN books ON books.id = items.value
    ) AS books,
    (
        SELECT json_group_array(json_array(positions.broker, positions.metal, positions.version))
        FROM @json_list($3)
        CROSS JOIN book_positions AS positions ON positions.broker = items.value
    ) AS positions

-- name: take_deal_nos (sqlite)
-- Numbers for this many deals of each broker. Returns the last.
INSERT INTO deals AS deals (broker, last_deal_no) VALUES $rows
ON CONFLICT (broker) DO UPDATE SET last_deal_no = deals.last_deal_no + excluded.last_deal_no
RETURNING broker, last_deal_no

-- name: open_orders (sqlite)
WITH opened (book_id, ordinal, deal_no) AS (VALUES $rows)

UPDATE orders
SET status = 'open', deal_no = opened.deal_no
FROM opened
WHERE orders.book_id = opened.book_id AND orders.ordinal = opened.ordinal

-- name: answer_hedges (sqlite)
WITH answered (book_id, ordinal, execution_id, at_us) AS (VALUES $rows)

UPDATE hedge_requests
SET
    state = 'answered', outcome = 'confirmed', execution_id = answered.execution_id,
    words = 'execution ' || answered.execution_id, answered_at_us = answered.at_us
FROM answered
WHERE hedge_requests.book_id = answered.book_id AND hedge_requests.ordinal = answered.ordinal
