-- Lines to venues over FIX: who holds them, and their numbers.

-- name: take_line
-- Takes or renews the line until $3, if this holder has it, it is free, or it expired at $4.
INSERT INTO fix_lines (name, holder, until_us, address, token, connection_no, outgoing, incoming)
VALUES ($1, $2, $3, $5, $6, 0, 1, 1)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, until_us = excluded.until_us, address = excluded.address, token = excluded.token
WHERE fix_lines.holder = excluded.holder OR fix_lines.until_us < $4
RETURNING holder

-- name: release_line
UPDATE fix_lines SET until_us = 0 WHERE name = $1 AND holder = $2

-- name: line_holder
SELECT holder, address, token, until_us, @clock_us AS clock_us FROM fix_lines WHERE name = $1

-- name: begin_line_connection
UPDATE fix_lines SET connection_no = connection_no + 1 WHERE name = $1 AND holder = $2 RETURNING connection_no

-- name: line_numbers
SELECT outgoing, incoming, stored_us FROM fix_lines WHERE name = $1

-- name: begin_line_numbers
UPDATE fix_lines SET outgoing = $3, incoming = $4, stored_us = @clock_us
WHERE name = $1 AND holder = $2
RETURNING name

-- name: restart_line_incoming
UPDATE fix_lines SET incoming = 1, stored_us = @clock_us WHERE name = $1 AND holder = $2 RETURNING name

-- name: reserve_line_numbers
UPDATE fix_lines
SET outgoing = CASE WHEN outgoing < $3 THEN $3 ELSE outgoing END, stored_us = @clock_us
WHERE name = $1 AND holder = $2
RETURNING name

-- name: store_line_incoming
UPDATE fix_lines SET incoming = $3, stored_us = @clock_us WHERE name = $1 AND holder = $2 RETURNING name

-- name: put_line_state
-- Only the process that holds the line writes it.
INSERT INTO line_states (line, broker, at_us, report)
SELECT name, CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS TEXT) FROM fix_lines WHERE name = $1 AND holder = $2
ON CONFLICT (line) DO UPDATE SET broker = excluded.broker, at_us = excluded.at_us, report = excluded.report

-- name: line_states
SELECT line, at_us, report FROM line_states WHERE broker = $1 ORDER BY line

-- name: line_wish
SELECT connected, at_us, reset_at_us, reset_done_us FROM line_wishes WHERE line = $1

-- name: wish_line_connected
INSERT INTO line_wishes (line, connected, at_us) VALUES ($1, $2, $3)
ON CONFLICT (line) DO UPDATE SET connected = excluded.connected, at_us = excluded.at_us

-- name: wish_line_reset
INSERT INTO line_wishes (line, connected, at_us, reset_at_us) VALUES ($1, 1, $2, $2)
ON CONFLICT (line) DO UPDATE SET reset_at_us = excluded.reset_at_us

-- name: note_line_reset
UPDATE line_wishes SET reset_done_us = $2 WHERE line = $1 AND reset_done_us < $2

-- name: open_line_orders
-- Orders without an outcome, and how many of them were sent before $2.
SELECT count(*) AS number, coalesce(sum(CASE WHEN sent_at_us < $2 THEN 1 ELSE 0 END), 0) AS late
FROM line_orders
WHERE line = $1 AND state = 'sent'
