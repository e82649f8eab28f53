-- The rules of hedge books, and what their covers are planned from.

-- name: rules_of_book
SELECT terms FROM book_rules WHERE broker = $1 AND metal = $2 ORDER BY place

-- name: delete_rules
DELETE FROM book_rules WHERE broker = $1 AND metal = $2

-- name: insert_rule
INSERT INTO book_rules (broker, metal, place, terms) VALUES ($1, $2, $3, $4)

-- fragment: is_planned
-- Covers that a dealer makes have a key. Not by IS NULL, with which SQLite would read all planned covers by their key.
coalesce(covers.idempotency_key, '') = ''

-- name: any_plan
-- Whether there may be any book to plan for. The order of rows leads to the index of open covers.
SELECT 1 AS found
WHERE
    (SELECT 1 FROM book_rules ORDER BY broker, metal LIMIT 1) = 1
    OR (SELECT 1 FROM covers WHERE state IN ('suggested', 'sent') ORDER BY broker, metal LIMIT 1) = 1

-- name: books_to_plan
-- Those with rules, and those whose rules are gone but have left suggestions. Not those of a broker that another node
-- than $1 plans for at $2. The names of their leases begin with $3.
SELECT positions.broker, positions.metal
FROM book_positions AS positions
WHERE
    (
        EXISTS (
            SELECT 1 FROM book_rules AS rules WHERE rules.broker = positions.broker AND rules.metal = positions.metal
        )
        OR EXISTS (
            SELECT 1 FROM covers
            WHERE
                covers.broker = positions.broker AND covers.metal = positions.metal
                AND covers.state IN ('suggested', 'sent') AND covers.state = 'suggested' AND @is_planned
        )
    )
    AND NOT EXISTS (SELECT 1 FROM brokers WHERE brokers.tag = positions.broker AND brokers.moved_store IS NOT NULL)
    AND NOT EXISTS (
        SELECT 1 FROM leases
        WHERE leases.name = $3 || positions.broker AND leases.holder <> $1 AND leases.until_us >= $2
    )
ORDER BY positions.broker, positions.metal

-- name: one_lease
SELECT holder, until_us FROM leases WHERE name = $1

-- fragment: suggestions
SELECT id FROM covers
WHERE broker = $1 AND metal = $2 AND state IN ('suggested', 'sent') AND state = 'suggested' AND @is_planned

-- name: lock_suggestions (postgres)
-- Without those that a dealer has locked, who may wait for the position.
@suggestions
FOR UPDATE SKIP LOCKED

-- name: lock_suggestions (sqlite)
@suggestions

-- name: open_covers
-- Those that are suggested or under way, with what was filled of them.
SELECT
    covers.id, covers.terms, covers.side, covers.quantity_e8, covers.rule, covers.made_by, covers.idempotency_key,
    covers.state,
    (
        SELECT coalesce(CAST(sum(fills.quantity_e8) AS BIGINT), 0) FROM cover_fills AS fills
        WHERE fills.cover_id = covers.id
    ) AS filled_e8
FROM covers
WHERE covers.broker = $1 AND covers.metal = $2 AND covers.state IN ('suggested', 'sent')
ORDER BY covers.id

-- name: declined_contracts
-- Of covers that were refused or dropped after $3.
SELECT DISTINCT contract FROM covers
WHERE broker = $1 AND metal = $2 AND state IN ('refused', 'dropped') AND finished_at_us > $3

-- name: insert_planned_cover
INSERT INTO covers (
    id, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule, made_by, state, created_at_us,
    sent_at_us, sent_by, due_at_us, planned_after, planned_at_us, plan, holder
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, '')

-- name: keep_suggestion
-- A newer plan has it too.
UPDATE covers SET planned_after = $2, planned_at_us = $3, plan = $4 WHERE id = $1 AND state = 'suggested' AND @is_planned

-- name: delete_suggestion
-- It was never sent, and no dealer made it.
DELETE FROM covers WHERE id = $1 AND state = 'suggested' AND @is_planned

-- name: entries_before
-- The entries of a book after $3 up to $4, newest first.
SELECT ordinal, client_mg, cover_mg, at_us
FROM book_entries
WHERE broker = $1 AND metal = $2 AND ordinal > $3 AND ordinal <= $4
ORDER BY ordinal DESC
LIMIT $5

-- name: verify_plans
-- The covers of plans that were made after the entries from $3 to $4.
SELECT id, terms, side, quantity_e8, rule, planned_after, planned_at_us, plan
FROM covers
WHERE broker = $1 AND metal = $2 AND planned_after >= $3 AND planned_after <= $4
ORDER BY planned_after, planned_at_us, id

-- name: verify_under_way
-- Plans without a cover that was under way from a minute before until a minute after them. The minute is for clocks that
-- differ. $1 is the maximum number of rows.
SELECT planned.broker, planned.id AS name, 'nothing of cover ' || working.id AS stored, 'it was under way' AS recomputed
FROM (
    SELECT id, broker, metal, sent_at_us + 60000000 AS from_us, coalesce(finished_at_us, 9000000000000000000) - 60000000 AS until_us
    FROM covers
    WHERE sent_at_us IS NOT NULL AND coalesce(finished_at_us, 9000000000000000000) - sent_at_us > 120000000
) AS working
INNER JOIN covers AS planned ON planned.broker = working.broker AND planned.metal = working.metal
WHERE
    planned.planned_after IS NOT NULL
    AND planned.planned_at_us > working.from_us
    AND planned.planned_at_us < working.until_us
    AND planned.plan NOT LIKE '%' || working.id || '%'
ORDER BY planned.broker, planned.id
LIMIT $1
