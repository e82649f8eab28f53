-- Transactions that may hold a number and are not visible yet: a writer locks the table before it takes a number, and
-- lets go of it after its commit can be seen. A lock is named with its database: others may have tables of the same oid.
SELECT virtualtransaction AS writer
FROM pg_locks
WHERE
    locktype = 'relation'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation = 'venue_orders'::REGCLASS
    AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND granted
