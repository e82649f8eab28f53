-- Contracts and covers of hedge books, and what was dealt for them.

-- name: contracts_of_broker
SELECT * FROM hedge_contracts WHERE broker = $1 ORDER BY metal, code

-- name: active_contracts
SELECT * FROM hedge_contracts WHERE active = 1 ORDER BY broker, metal, code

-- name: one_contract
SELECT * FROM hedge_contracts WHERE broker = $1 AND code = $2

-- fragment: insert_contract
INSERT INTO hedge_contracts (
    broker, code, venue, venue_symbol, security_id, metal, instrument, lot_ng, fineness_e4, step_e8, price_ng, currency,
    tick_e6, expires_on, hold_until, mode, active
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)

-- name: add_contract
-- Unless there is one with its code.
@insert_contract
ON CONFLICT (broker, code) DO NOTHING

-- name: put_contract
@insert_contract
ON CONFLICT (broker, code) DO UPDATE SET
    venue = excluded.venue, venue_symbol = excluded.venue_symbol, security_id = excluded.security_id,
    metal = excluded.metal, instrument = excluded.instrument, lot_ng = excluded.lot_ng,
    fineness_e4 = excluded.fineness_e4, step_e8 = excluded.step_e8, price_ng = excluded.price_ng,
    currency = excluded.currency, tick_e6 = excluded.tick_e6, expires_on = excluded.expires_on,
    hold_until = excluded.hold_until, mode = excluded.mode, active = excluded.active

-- name: covers_page
SELECT * FROM covers WHERE broker = $1 ORDER BY created_at_us DESC, id DESC LIMIT $2 OFFSET $3

-- name: count_covers
-- Up to $2.
SELECT count(*) AS total FROM (SELECT 1 FROM covers WHERE broker = $1 LIMIT $2) AS counted

-- name: covers_of_state
SELECT * FROM covers WHERE broker = $1 AND state = $2 ORDER BY created_at_us DESC, id DESC LIMIT $3 OFFSET $4

-- name: count_covers_of_state
-- Up to $3.
SELECT count(*) AS total FROM (SELECT 1 FROM covers WHERE broker = $1 AND state = $2 LIMIT $3) AS counted

-- name: unfinished_covers
-- Sorted by a sum, so that no engine looks for them among all covers in the order of their times.
SELECT * FROM covers
WHERE broker = $1 AND state IN ('suggested', 'sent')
ORDER BY created_at_us + 0 DESC, id DESC
LIMIT $2 OFFSET $3

-- name: count_unfinished_covers
SELECT count(*) AS total FROM covers WHERE broker = $1 AND state IN ('suggested', 'sent')

-- name: fills_of_covers
SELECT fills.*
FROM @json_list($1)
@lookup_join cover_fills AS fills ON fills.cover_id = items.value
ORDER BY fills.at_us, fills.execution_id

-- name: cover_by_key
SELECT * FROM covers WHERE broker = $1 AND idempotency_key = $2

-- name: lock_cover
SELECT * FROM covers WHERE id = $1 AND broker = $2
@for_update

-- name: insert_book_cover
INSERT INTO covers (
    id, broker, metal, contract, terms, venue, side, quantity_e8, fine_mg, rule, made_by, idempotency_key, state,
    created_at_us, holder, due_at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'suggested', $13, '', 0)

-- name: finish_cover
UPDATE covers SET state = $2, execution_id = $3, words = $4, finished_at_us = $5 WHERE id = $1

-- name: add_held
-- What is held of a contract after a fill, above zero for bought.
INSERT INTO held_contracts (broker, contract, held_e8) VALUES ($1, $2, $3)
ON CONFLICT (broker, contract) DO UPDATE SET held_e8 = held_contracts.held_e8 + excluded.held_e8
RETURNING held_e8

-- name: held_contracts_of_broker
SELECT contract, held_e8 FROM held_contracts WHERE broker = $1 AND held_e8 <> 0

-- name: one_cover_fill
SELECT * FROM cover_fills WHERE broker = $1 AND venue = $2 AND execution_id = $3

-- name: insert_cover_fill
INSERT INTO cover_fills (
    broker, venue, execution_id, cover_id, quantity_e8, price_e6, reference_e6, fee_minor, dollar_e6, fine_mg, at_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
