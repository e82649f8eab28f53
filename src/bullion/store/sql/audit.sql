-- The audit trail and its chain's head.

-- fragment: head_of_audit
SELECT count, hash, seal FROM audit_heads WHERE broker = $1

-- name: audit_head
@head_of_audit

-- name: lock_audit_head
-- No other session can append before this transaction ends.
@head_of_audit
@for_update

-- name: put_audit_head
INSERT INTO audit_heads (broker, count, hash, seal) VALUES ($1, $2, $3, $4)
ON CONFLICT (broker) DO UPDATE SET count = excluded.count, hash = excluded.hash, seal = excluded.seal

-- name: insert_audit
INSERT INTO audit (broker, ordinal, at_us, actor, action, subject, before, after, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: audit_page
SELECT * FROM audit WHERE broker = $1 ORDER BY ordinal DESC LIMIT $2 OFFSET $3

-- name: count_audit
-- Entries are numbered from 1. To count them would take longer with each of them.
SELECT coalesce(max(ordinal), 0) AS total FROM audit WHERE broker = $1

-- name: audit_after
SELECT * FROM audit WHERE broker = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3

-- name: audit_matching
-- From ordinal $2 down to $3, newest first. $5 and $6 are patterns.
SELECT *
FROM audit
WHERE
    broker = $1
    AND ordinal <= $2
    AND ordinal >= $3
    AND (CAST($4 AS TEXT) IS NULL OR action = $4)
    AND (CAST($5 AS TEXT) IS NULL OR lower(actor) LIKE lower($5) ESCAPE '\')
    AND (CAST($6 AS TEXT) IS NULL OR lower(subject) LIKE lower($6) ESCAPE '\')
ORDER BY ordinal DESC
LIMIT $7

-- name: reseal_audit
-- Replaces the hashes of entries, by ordinal: the same chain with another secret.
UPDATE audit
SET hash = @item(1)
FROM @json_rows($2)
WHERE audit.broker = $1 AND audit.ordinal = CAST(@item(0) AS BIGINT)

-- name: audit_brokers
SELECT tag AS broker FROM brokers
UNION SELECT broker FROM audit
UNION SELECT broker FROM audit_heads
ORDER BY broker
