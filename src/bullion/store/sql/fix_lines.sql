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
