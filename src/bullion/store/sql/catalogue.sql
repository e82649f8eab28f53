-- The catalogue's version and changes, values of the deployment, leases.

-- fragment: clock_us (postgres)
CAST(extract(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)

-- fragment: clock_us (sqlite)
-- SQLite's clock has milliseconds.
CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000

-- name: catalogue_state
-- With the clock of the store's machine.
SELECT version, oldest_change, @clock_us AS clock_us FROM catalogue

-- name: move_version
UPDATE catalogue SET version = version + 1 RETURNING version

-- name: record_change
INSERT INTO changes (version, kind, broker, subject)
SELECT version, $1, $2, $3 FROM catalogue WHERE one = 1
ON CONFLICT DO NOTHING

-- name: changes_since
SELECT DISTINCT kind, broker, subject FROM changes WHERE version > $1

-- name: delete_old_changes
DELETE FROM changes WHERE version <= $1

-- name: set_oldest_change
-- A broker that was moved here set it to a later version.
UPDATE catalogue SET oldest_change = $1 WHERE oldest_change < $1

-- name: notify_nodes (postgres)
-- Sent when the transaction commits: to the listener $1, or to all if it is empty.
SELECT pg_notify('bullion_catalogue', $1)

-- name: notify_nodes (sqlite)
-- No-op: nodes poll `PRAGMA data_version`.
SELECT 1

-- name: deployment_value
SELECT value FROM deployment WHERE name = $1

-- name: delete_deployment_value
DELETE FROM deployment WHERE name = $1

-- name: node_reports
-- What nodes say about themselves: the names that begin with "node ".
SELECT name, value FROM deployment WHERE name LIKE 'node %'

-- name: takes_writes (postgres)
SELECT current_setting('transaction_read_only') = 'off' AS writable

-- name: schema_step
SELECT max(number) AS number FROM migrations

-- name: keep_deployment_value
INSERT INTO deployment (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: put_deployment_value
INSERT INTO deployment (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: take_lease
-- Takes or renews the lease until $3, if this holder has it, it is free, or it expired at $4.
INSERT INTO leases (name, holder, until_us)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, until_us = excluded.until_us
WHERE leases.holder = excluded.holder OR leases.until_us < $4
RETURNING holder

-- name: take_lease_for
-- The same for $3 microseconds from now, by the store's clock.
INSERT INTO leases (name, holder, until_us)
VALUES ($1, $2, @clock_us + CAST($3 AS BIGINT))
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, until_us = excluded.until_us
WHERE leases.holder = excluded.holder OR leases.until_us < @clock_us
RETURNING @clock_us AS clock_us
