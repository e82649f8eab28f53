-- Ours already, free, or run out: then it is ours until $3.
INSERT INTO leases (name, holder, until_us)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, until_us = excluded.until_us
WHERE leases.holder = excluded.holder OR leases.until_us < $4
RETURNING holder
