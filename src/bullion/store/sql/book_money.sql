-- The money of hedge books: what each entry was dealt at, currency deals, and the state that was reached.

-- fragment: entries_after
-- The next entries of a book.
SELECT * FROM book_entries WHERE broker = $1 AND metal = $2 AND ordinal > $3 ORDER BY ordinal LIMIT $4

-- name: money_of_entries
SELECT
    entries.ordinal, entries.kind, entries.name, entries.client_mg, entries.cover_mg, entries.at_us,
    orders.trade_type, orders.quantity_e4, orders.total_paise, orders.price_anatomy, orders.realized_pnl_paise
FROM (@entries_after) AS entries
LEFT JOIN orders ON orders.id = entries.name AND entries.kind IN ('deal', 'close', 'delete')
ORDER BY entries.ordinal

-- name: fills_of_entries
-- The fills of covers. An execution id is unique at its venue only: `fill_of` chooses.
SELECT entries.ordinal AS entry, fills.*, covers.side, covers.terms, covers.finished_at_us
FROM (@entries_after) AS entries
@lookup_join cover_fills AS fills ON fills.broker = $1 AND fills.execution_id = entries.name
@lookup_join covers ON covers.id = fills.cover_id
WHERE entries.kind = 'fill' AND covers.metal = $2
ORDER BY entries.ordinal, fills.venue

-- name: order_fills_of_entries
-- The venue's deals for orders that were covered one by one.
SELECT entries.ordinal AS entry, fills.order_id, fills.quantity_e8, fills.price_e6
FROM (@entries_after) AS entries
@lookup_join orders ON orders.id = entries.name
@lookup_join hedge_fills AS fills ON fills.book_id = orders.book_id AND fills.ordinal = orders.ordinal
WHERE entries.kind = 'deal' AND entries.cover_mg <> 0
ORDER BY entries.ordinal, fills.at_us, fills.execution_id

-- name: line_terms
-- How orders with these ids were sent on lines.
SELECT sent.order_id, sent.line, sent.terms
FROM @json_list($1)
CROSS JOIN fix_lines AS lines
@lookup_join line_orders AS sent ON sent.line = lines.name AND sent.order_id = items.value

-- name: currency_deals_after
SELECT * FROM currency_deals WHERE broker = $1 AND metal = $2 AND number > $3 ORDER BY number LIMIT $4

-- name: last_currency_deal
SELECT coalesce(max(number), 0) AS number FROM currency_deals WHERE broker = $1 AND metal = $2

-- name: insert_currency_deal
INSERT INTO currency_deals (
    broker, metal, number, id, after_ordinal, cents, rate_e6, cash_paise, fee_paise, reference, made_by, idempotency_key, at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: currency_deal_by_key
SELECT * FROM currency_deals WHERE broker = $1 AND idempotency_key = $2

-- name: currency_deals_page
SELECT * FROM currency_deals WHERE broker = $1 ORDER BY at_us DESC, id DESC LIMIT $2 OFFSET $3

-- name: count_currency_deals
SELECT count(*) AS total FROM currency_deals WHERE broker = $1

-- name: last_cover_mark
SELECT * FROM cover_marks WHERE broker = $1 AND metal = $2 ORDER BY day DESC LIMIT 1

-- name: books_to_keep
-- Each book with the row of its newest day, if it has one, and the number of its last exchange of currency.
SELECT
    books.*,
    marks.day,
    marks.state,
    (
        SELECT coalesce(max(deals.number), 0) FROM currency_deals AS deals
        WHERE deals.broker = books.broker AND deals.metal = books.metal
    ) AS currency_no
FROM book_positions AS books
LEFT JOIN cover_marks AS marks
    ON
        marks.broker = books.broker AND marks.metal = books.metal
        AND marks.day = (
            SELECT max(newest.day) FROM cover_marks AS newest
            WHERE newest.broker = books.broker AND newest.metal = books.metal
        )
ORDER BY books.broker, books.metal

-- name: cover_marks_of_book
SELECT * FROM cover_marks WHERE broker = $1 AND metal = $2 ORDER BY day

-- name: put_cover_mark
-- A day's row changes only from the entry that was read: two nodes at once do not mix their work.
INSERT INTO cover_marks (broker, metal, day, ordinal, state) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (broker, metal, day) DO UPDATE SET ordinal = excluded.ordinal, state = excluded.state
WHERE cover_marks.ordinal = $6

-- name: covers_under_way
SELECT
    covers.metal, covers.side, covers.quantity_e8, covers.terms,
    (
        SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0) FROM cover_fills AS fills WHERE fills.cover_id = covers.id
    ) AS filled_e8
FROM covers
WHERE covers.broker = $1 AND covers.state = 'sent'

-- name: cover_trades
-- What covers were dealt at a venue in a time.
SELECT fills.execution_id, fills.cover_id AS order_id, fills.quantity_e8, fills.price_e6, covers.side, covers.terms
FROM cover_fills AS fills
@lookup_join covers ON covers.id = fills.cover_id
WHERE fills.broker = $1 AND fills.at_us >= $2 AND fills.at_us < $3 AND fills.venue = $4
ORDER BY fills.at_us, fills.execution_id
LIMIT $5

-- fragment: single_trades
-- What was dealt for orders one by one at a venue in a time.
SELECT
    fills.execution_id, fills.order_id, fills.quantity_e8, fills.price_e6, hedges.instrument, orders.trade_type
FROM hedge_fills AS fills
@lookup_join hedge_requests AS hedges ON hedges.book_id = fills.book_id AND hedges.ordinal = fills.ordinal
@lookup_join orders ON orders.book_id = fills.book_id AND orders.ordinal = fills.ordinal
WHERE fills.broker = $1 AND fills.at_us >= $2 AND fills.at_us < $3 AND fills.venue = $4

-- name: order_trades
-- Without a line: those of a line are told by the line's name.
@single_trades
AND NOT EXISTS (
    SELECT 1 FROM fix_lines AS lines
    @lookup_join line_orders AS sent ON sent.line = lines.name AND sent.order_id = fills.order_id
)
ORDER BY fills.at_us, fills.execution_id
LIMIT $5

-- name: line_trades
-- On the line $6.
@single_trades
AND EXISTS (SELECT 1 FROM line_orders AS sent WHERE sent.line = $6 AND sent.order_id = fills.order_id)
ORDER BY fills.at_us, fills.execution_id
LIMIT $5

-- name: verify_covers
-- Covers whose state is not what their fills say. $1 is the maximum number of rows.
SELECT found.broker, found.id AS name, found.state || ' of ' || found.quantity_e8 AS stored, 'fills of ' || found.filled_e8 AS recomputed
FROM (
    SELECT
        covers.broker, covers.id, covers.state, covers.quantity_e8,
        (
            SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0) FROM cover_fills AS fills
            WHERE fills.cover_id = covers.id
        ) AS filled_e8
    FROM covers
) AS found
WHERE
    NOT CASE found.state
        WHEN 'filled' THEN found.filled_e8 = found.quantity_e8
        WHEN 'partly' THEN found.filled_e8 > 0 AND found.filled_e8 < found.quantity_e8
        WHEN 'sent' THEN found.filled_e8 <= found.quantity_e8
        ELSE found.filled_e8 = 0
    END
ORDER BY found.broker, found.id
LIMIT $1

-- name: verify_held
-- What is kept as held of a contract, and the sum of its fills. $1 is the maximum number of rows.
SELECT
    found.broker, found.contract AS name, CAST(sum(found.kept_e8) AS BIGINT) AS stored,
    CAST(sum(found.dealt_e8) AS BIGINT) AS recomputed
FROM (
    SELECT broker, contract, held_e8 AS kept_e8, 0 AS dealt_e8 FROM held_contracts
    UNION ALL
    SELECT
        covers.broker, covers.contract, 0,
        CASE WHEN covers.side = 'buy' THEN fills.quantity_e8 ELSE -fills.quantity_e8 END
    FROM cover_fills AS fills
    INNER JOIN covers ON covers.id = fills.cover_id
) AS found
GROUP BY found.broker, found.contract
HAVING sum(found.kept_e8) <> sum(found.dealt_e8)
ORDER BY found.broker, found.contract
LIMIT $1

-- name: verify_parts
-- Orders that were filled in parts: what was filled and what is left is all of the order.
SELECT hedges.broker, hedges.order_id AS name, orders.quantity_e4 AS stored, found.quantity_e4 AS recomputed
FROM (
    SELECT
        rests.book_id, rests.ordinal,
        rests.quantity_e4 + coalesce((
            SELECT CAST(sum(parts.quantity_e4) AS BIGINT) FROM hedge_parts AS parts
            WHERE parts.book_id = rests.book_id AND parts.ordinal = rests.ordinal
        ), 0) AS quantity_e4
    FROM hedge_rests AS rests
) AS found
@lookup_join orders ON orders.book_id = found.book_id AND orders.ordinal = found.ordinal
@lookup_join hedge_requests AS hedges ON hedges.book_id = found.book_id AND hedges.ordinal = found.ordinal
WHERE found.quantity_e4 <> orders.quantity_e4
ORDER BY hedges.broker, hedges.order_id
LIMIT $1

-- name: verify_line_orders
-- Final orders of a line whose fills are more than the total that the venue named.
SELECT found.broker, found.order_id AS name, found.filled_e8 AS stored, found.listed_e8 AS recomputed
FROM (
    SELECT
        sent.broker, sent.order_id, sent.filled_e8,
        (
            SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0) FROM line_fills AS fills
            WHERE fills.line = sent.line AND fills.client_order_id = sent.client_order_id
        ) AS listed_e8
    FROM line_orders AS sent
    WHERE
        sent.state = 'final'
        AND NOT EXISTS (
            SELECT 1 FROM line_executions AS breaks
            WHERE breaks.line = sent.line AND breaks.order_id = sent.client_order_id AND breaks.reason <> ''
        )
) AS found
WHERE found.listed_e8 > found.filled_e8
ORDER BY found.broker, found.order_id
LIMIT $1

-- name: verify_book_words
-- Deals of a hedge book that count as covered without a confirmation of the venue, or as not covered by the venue
-- although the book did not confirm them.
SELECT
    entries.broker, entries.name, coalesce(hedges.venue || ' ' || coalesce(hedges.outcome, 'no answer'), 'nothing') AS stored,
    CASE WHEN entries.cover_mg <> 0 THEN 'a confirmation of the venue' ELSE 'a confirmation of the book' END AS recomputed
FROM book_entries AS entries
LEFT JOIN orders ON orders.id = entries.name
LEFT JOIN hedge_requests AS hedges ON hedges.book_id = orders.book_id AND hedges.ordinal = orders.ordinal
WHERE
    entries.kind = 'deal'
    AND (
        hedges.outcome IS NULL
        OR (hedges.state = 'answered' AND hedges.outcome <> 'confirmed')
        -- An order of less than half a milligram weighs nothing here.
        OR ((hedges.venue = 'book') <> (entries.cover_mg = 0) AND entries.client_mg <> 0)
    )
ORDER BY entries.broker, entries.name
LIMIT $1

-- name: verify_book_entries
-- The next entries of a book.
@entries_after

-- name: verify_cover_executions
-- Covers whose fills are not what lines executed under their ids, without a break that shows it.
-- $1 is the maximum number of rows.
SELECT
    found.broker, found.id AS name, found.state || ' with fills of ' || found.dealt_e8 AS stored,
    'executions of ' || found.executed_e8 AS recomputed
FROM (
    SELECT
        covers.broker, covers.id, covers.state,
        (
            SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0) FROM cover_fills AS fills
            WHERE fills.cover_id = covers.id
        ) AS dealt_e8,
        (
            SELECT CAST(sum(sent.filled_e8) AS BIGINT) FROM fix_lines AS lines
            @lookup_join line_orders AS sent ON sent.line = lines.name AND sent.order_id = covers.id
            WHERE sent.state = 'final'
        ) AS executed_e8
    FROM covers
    WHERE covers.state IN ('filled', 'partly', 'refused', 'dropped')
) AS found
WHERE
    found.executed_e8 <> found.dealt_e8
    AND NOT EXISTS (
        SELECT 1 FROM unmatched_executions AS breaks
        WHERE breaks.broker = found.broker AND breaks.order_id = found.id
    )
ORDER BY found.broker, found.id
LIMIT $1
