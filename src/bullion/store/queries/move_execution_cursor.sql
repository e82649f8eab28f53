-- Only from where this node began: of two that did the same work, one moves it.
INSERT INTO execution_cursors AS cursors (venue, broker, position)
VALUES ($1, $2, $4)
ON CONFLICT (broker, venue) DO UPDATE SET position = excluded.position WHERE cursors.position = $3
RETURNING position
