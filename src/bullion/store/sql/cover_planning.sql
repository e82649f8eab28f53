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

-- name: books_to_plan
-- Those with rules, and those whose rules are gone but have left suggestions.
SELECT positions.broker, positions.metal
FROM book_positions AS positions
WHERE
    EXISTS (
        SELECT 1 FROM book_rules AS rules WHERE rules.broker = positions.broker AND rules.metal = positions.metal
    )
    OR EXISTS (
        SELECT 1 FROM covers
        WHERE
            covers.broker = positions.broker AND covers.metal = positions.metal
            AND covers.state IN ('suggested', 'sent') AND covers.state = 'suggested' AND @is_planned
    )
ORDER BY positions.broker, positions.metal

-- name: one_lease
SELECT holder, until_us FROM leases WHERE name = $1

-- name: lock_suggestions
-- Before the position, as wherever a cover and then the position are changed.
SELECT id FROM covers
WHERE broker = $1 AND metal = $2 AND state IN ('suggested', 'sent') AND state = 'suggested' AND @is_planned
ORDER BY id
@for_update

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
    sent_at_us, sent_by, holder, due_at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '', $16)

-- name: delete_suggestion
-- It was never sent, and no dealer made it.
DELETE FROM covers WHERE id = $1 AND state = 'suggested' AND @is_planned
