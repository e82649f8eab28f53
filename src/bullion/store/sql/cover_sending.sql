-- Covers that were sent: which node handles each, and the venue's answer.

-- name: send_cover
UPDATE covers SET state = 'sent', sent_at_us = $2, sent_by = $3, holder = '', due_at_us = $2 WHERE id = $1

-- name: cover_due
SELECT 1 AS due
FROM covers
WHERE state = 'sent' AND due_at_us <= $1 AND (sent_to IS NULL OR sent_to = $2)
ORDER BY due_at_us
LIMIT 1

-- fragment: due_covers
SELECT id
FROM covers
WHERE state = 'sent' AND due_at_us <= $3 AND (sent_to IS NULL OR sent_to = $5)
ORDER BY due_at_us
LIMIT $4

-- name: claim_covers (postgres)
-- Leases the covers that are due to this node until $2.
WITH due AS MATERIALIZED (
    @due_covers
    FOR UPDATE SKIP LOCKED
)

UPDATE covers
SET holder = $1, due_at_us = $2, claimed_until_us = $2, sent_to = $5
FROM due
WHERE covers.id = due.id

-- name: claim_covers (sqlite)
UPDATE covers SET holder = $1, due_at_us = $2, claimed_until_us = $2, sent_to = $5 WHERE id IN (@due_covers)

-- name: claimed_covers
SELECT * FROM covers WHERE state = 'sent' AND holder = $1 AND due_at_us = $2

-- name: price_cover
-- Only by its holder, during its lease.
UPDATE covers
SET reference_e6 = $4, dollar_e6 = $5
WHERE id = $1 AND state = 'sent' AND holder = $2 AND due_at_us = $3 AND reference_e6 IS NULL
RETURNING id

-- name: postpone_cover
-- Only by its holder: see `postpone_hedges`.
UPDATE covers
SET due_at_us = $3, claimed_until_us = NULL, tries = tries + 1, words = $4
WHERE id = $1 AND state = 'sent' AND holder = $2

-- name: settle_cover
UPDATE covers
SET state = $2, execution_id = $3, words = $4, finished_at_us = $5, settled_by = $6
WHERE id = $1

-- name: adopt_execution
-- The venue's own id for what a dealer settled.
UPDATE covers SET execution_id = $2 WHERE id = $1

-- name: cover_by_id
SELECT * FROM covers WHERE id = $1

-- name: covers_with_fills
-- The covers with these ids, and what was filled of each.
SELECT
    covers.*,
    (
        SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0)
        FROM cover_fills AS fills
        WHERE fills.cover_id = covers.id
    ) AS filled_e8
FROM @json_list($1)
@lookup_join covers ON covers.id = items.value

-- name: covers_waiting
SELECT count(*) AS covers, min(coalesce(sent_at_us, created_at_us)) AS oldest_at_us FROM covers WHERE state = 'sent'
