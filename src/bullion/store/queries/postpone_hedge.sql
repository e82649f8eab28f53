-- Only by its holder: one who stood still for longer than its lease must not cut short that of who took over. The
-- state is asked for as a query, so that on PostgreSQL no plan goes through the index of all that waits.
UPDATE hedge_requests
SET due_at_us = $3, tries = tries + 1, words = $4
WHERE book_id = $1 AND ordinal = $2 AND state = (SELECT 'waiting') AND holder = $5
