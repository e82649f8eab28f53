-- Orders over a FIX line, and what was seen of them.

-- name: next_line_number
-- $2 is the time in milliseconds: a store that was restored from a backup gives no number again that it gave later.
SELECT
    CASE
        WHEN coalesce(max(number), 0) < CAST($2 AS BIGINT) THEN CAST($2 AS BIGINT)
        ELSE coalesce(max(number), 0) + 1
    END AS number
FROM line_orders
WHERE line = $1

-- name: claim_line_order
-- An order that was sent before is claimed again only if the venue proved that it does not have it.
INSERT INTO line_orders AS sent (line, order_id, client_order_id, number, broker, terms, sends, state, sent_at_us)
VALUES ($1, $2, $3, $4, $5, $6, 1, 'sent', $7)
ON CONFLICT (line, order_id) DO UPDATE
SET sends = sent.sends + 1, state = 'sent', sent_at_us = excluded.sent_at_us, terms = excluded.terms
WHERE sent.state = 'unknown'
RETURNING client_order_id, sends

-- name: release_line_order
UPDATE line_orders SET state = 'unknown' WHERE line = $1 AND order_id = $2 AND sends = $3 AND state = 'sent'

-- name: line_order
SELECT * FROM line_orders WHERE line = $1 AND order_id = $2

-- name: line_order_elsewhere
-- An order that was sent on another line than $1, and may have been executed there.
SELECT sent.*
FROM fix_lines AS lines
@lookup_join line_orders AS sent ON sent.line = lines.name AND sent.order_id = $2
WHERE lines.name <> $1 AND sent.state <> 'unknown'
ORDER BY sent.state, sent.line
LIMIT 1

-- name: line_order_sent
SELECT * FROM line_orders WHERE line = $1 AND client_order_id = $2

-- name: line_orders_unsettled
SELECT * FROM line_orders WHERE line = $1 AND state = 'sent' ORDER BY sent_at_us, number

-- name: line_fills
SELECT * FROM line_fills WHERE line = $1 AND client_order_id = $2 ORDER BY at_us, execution_id

-- name: insert_line_fill
INSERT INTO line_fills (line, client_order_id, execution_id, quantity_e8, price_e6, at_us)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (line, client_order_id, execution_id) DO NOTHING

-- name: answer_line_order
-- A final answer never changes. An order without a record was sent before the store was restored from a backup.
INSERT INTO line_orders AS sent (
    line, order_id, client_order_id, number, broker, terms, sends, state, sent_at_us, answer, filled_e8
)
VALUES ($1, $2, $3, $4, $5, $6, 1, 'final', $7, $8, $9)
ON CONFLICT (line, order_id) DO UPDATE
SET state = 'final', answer = excluded.answer, filled_e8 = excluded.filled_e8
WHERE sent.state <> 'final'
RETURNING order_id

-- name: line_seen
SELECT seen FROM line_seen WHERE line = $1 AND name = $2

-- name: put_line_seen
INSERT INTO line_seen (line, name, seen) VALUES ($1, $2, $3)
ON CONFLICT (line, name) DO UPDATE SET seen = excluded.seen

-- name: insert_line_execution
INSERT INTO line_executions (
    line, position, execution_id, order_id, instrument, trade_type, quantity_e4, executed_at_us, reason, message
)
SELECT
    CAST($1 AS TEXT), coalesce(max(position), 0) + 1, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT),
    CAST($5 AS TEXT), CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($8 AS TEXT), CAST($9 AS TEXT)
FROM line_executions
WHERE line = $1
ON CONFLICT (line, execution_id, order_id) DO NOTHING

-- name: line_execution
SELECT trade_type, quantity_e4, executed_at_us FROM line_executions
WHERE line = $1 AND execution_id = $2 AND order_id = $3

-- name: line_executions
SELECT * FROM line_executions WHERE line = $1 AND position > $2 ORDER BY position LIMIT $3
