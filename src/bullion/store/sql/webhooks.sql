-- Webhooks: their set-up, which node delivers to each, the attempts, and the events that were given up.

-- fragment: newest_event
books.order_count + books.event_shift

-- name: webhooks_of_book
SELECT webhooks.*, @newest_event AS newest
FROM webhooks
INNER JOIN books ON books.id = webhooks.book_id
WHERE webhooks.book_id = $1
ORDER BY webhooks.created_at_us, webhooks.id

-- name: one_webhook
SELECT webhooks.*, @newest_event AS newest
FROM webhooks
INNER JOIN books ON books.id = webhooks.book_id
WHERE webhooks.book_id = $1 AND webhooks.id = $2

-- name: all_webhook_secrets
SELECT book_id, id, encrypted_secret, previous_secret, secret_id FROM webhooks ORDER BY book_id, id

-- name: webhook_slots
SELECT slot FROM webhooks WHERE book_id = $1

-- name: insert_webhook
-- It begins with the events after the newest one.
INSERT INTO webhooks (
    book_id, id, slot, url, types, description, state, created_at_us, created_by, encrypted_secret, secret_id,
    delivered_through, next_try_at_us
)
SELECT
    books.id, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), 'on',
    @clock_us, CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS TEXT), @newest_event, @clock_us
FROM books
WHERE books.id = $1

-- name: set_up_webhook
-- What is NULL stays as it is.
UPDATE webhooks
SET url = coalesce($3, url), types = coalesce($4, types), description = coalesce($5, description)
WHERE book_id = $1 AND id = $2

-- name: switch_on_webhook
-- Of its tries, $3 still count, and a pause goes on for up to $4: nobody shortens the pauses of a receiver that fails by
-- switching its webhook off and on.
UPDATE webhooks
SET
    state = 'on', off_reason = NULL, off_at_us = NULL, failing_since_us = NULL,
    tries = CASE WHEN tries > $3 THEN CAST($3 AS BIGINT) ELSE tries END,
    next_try_at_us = CASE
        WHEN next_try_at_us > @clock_us + CAST($4 AS BIGINT) THEN @clock_us + CAST($4 AS BIGINT)
        ELSE next_try_at_us
    END
WHERE book_id = $1 AND id = $2 AND state = 'off'

-- name: switch_off_webhook
-- By a person, who knows of it.
UPDATE webhooks
SET state = 'off', off_reason = $3, off_at_us = @clock_us, failing_since_us = NULL, replaying = 0
WHERE book_id = $1 AND id = $2 AND state = 'on'

-- name: put_webhook_secret
UPDATE webhooks
SET encrypted_secret = $4, secret_id = $5, previous_secret = $6, previous_until_us = $7
WHERE book_id = $1 AND id = $2 AND encrypted_secret = $3
RETURNING id

-- name: reencrypt_webhook
-- Nothing if $6 is not the store's secret: a process that started before an exchange must not undo it.
UPDATE webhooks
SET encrypted_secret = $4, previous_secret = $5, secret_id = $6
WHERE book_id = $1 AND id = $2 AND encrypted_secret = $3 AND @is_secret_of_store($6)

-- name: delete_webhook
DELETE FROM webhooks WHERE book_id = $1 AND id = $2

-- name: delete_webhook_attempts
DELETE FROM webhook_attempts WHERE book_id = $1 AND webhook_id = $2

-- name: delete_webhook_dead_events
DELETE FROM webhook_dead_events WHERE book_id = $1 AND webhook_id = $2

-- name: webhook_attempts
SELECT * FROM webhook_attempts WHERE book_id = $1 AND webhook_id = $2 ORDER BY attempt DESC

-- name: webhook_dead_events
SELECT * FROM webhook_dead_events WHERE book_id = $1 AND webhook_id = $2 ORDER BY number

-- name: replay_dead_events
-- All of them, or that with the number $3.
UPDATE webhook_dead_events
SET replaying = 1
WHERE book_id = $1 AND webhook_id = $2 AND (number = $3 OR CAST($3 AS BIGINT) IS NULL)
RETURNING number

-- name: end_replays
UPDATE webhook_dead_events SET replaying = 0 WHERE book_id = $1 AND webhook_id = $2 AND replaying = 1

-- name: lock_webhook
-- Before its events that were given up are changed, so that its column says what holds for them.
UPDATE webhooks SET replaying = replaying WHERE book_id = $1 AND id = $2 AND state = 'on' RETURNING id

-- name: replay_webhook
UPDATE webhooks SET replaying = 1 WHERE book_id = $1 AND id = $2

-- name: webhooks_off
-- Those of a broker that were switched off after $2 because deliveries failed, the newest first.
SELECT accounts.login_id, books.environment, webhooks.id, webhooks.url, webhooks.off_reason, webhooks.off_at_us
FROM webhooks
INNER JOIN books ON books.id = webhooks.book_id
INNER JOIN accounts ON accounts.id = books.account_id
WHERE webhooks.state = 'off' AND webhooks.failing_since_us IS NOT NULL AND webhooks.off_at_us > $2 AND accounts.broker = $1
ORDER BY webhooks.off_at_us DESC

-- Delivery

-- fragment: due_webhooks(now, limit)
-- An account that is not active, or whose API access is off, gets nothing, and none of a broker that was moved. Two webhooks of a book are leased at once, but
-- for those that one claim takes. A lease that ends in more than a minute was given before the clock stepped back.
SELECT webhooks.book_id, webhooks.id
FROM webhooks
@lookup_join books ON books.id = webhooks.book_id
@lookup_join accounts ON accounts.id = books.account_id
@lookup_join brokers ON brokers.tag = accounts.broker
WHERE
    brokers.moved_store IS NULL AND webhooks.state = 'on' AND NOT (webhooks.lease_until_us > {now} AND webhooks.lease_until_us <= {now} + 60000000) AND accounts.active = 1 AND accounts.api_access = 1
    AND (
        webhooks.replaying = 1
        OR ((webhooks.tries = 0 OR webhooks.next_try_at_us <= {now}) AND @newest_event > webhooks.delivered_through)
    )
    AND (
        SELECT count(*)
        FROM webhooks AS other
        WHERE
            other.book_id = webhooks.book_id AND other.lease_until_us > {now} AND other.lease_until_us <= {now} + 60000000
    ) < 2
ORDER BY webhooks.next_try_at_us
LIMIT {limit}

-- name: webhook_on
-- Whether any webhook may have something to deliver: most stores have none.
SELECT 1 AS found FROM webhooks WHERE state = 'on' ORDER BY next_try_at_us LIMIT 1

-- name: webhooks_due
SELECT count(*) AS due FROM (@due_webhooks(@clock_us, 1)) AS due

-- name: claim_webhooks (postgres)
-- Leases webhooks that are due to this holder until $4.
WITH due AS MATERIALIZED (
    @due_webhooks($1, $2)
    FOR UPDATE OF webhooks SKIP LOCKED
)

UPDATE webhooks
SET holder = $3, lease_until_us = $4
FROM due
WHERE webhooks.book_id = due.book_id AND webhooks.id = due.id
RETURNING webhooks.*, 0 AS newest

-- name: claim_webhooks (sqlite)
UPDATE webhooks
SET holder = $3, lease_until_us = $4
WHERE (book_id, id) IN (@due_webhooks($1, $2))
RETURNING *, 0 AS newest

-- fragment: held_webhook
-- The lease may have run out: it is this holder's until another one has taken it. Each claim has a holder of its own.
webhooks.book_id = $1 AND webhooks.id = $2 AND webhooks.holder = $3 AND webhooks.state = 'on'

-- fragment: account_gets_webhooks
-- As the claim asks: a lease goes on only as long as that holds.
EXISTS (
    SELECT 1
    FROM books
    @lookup_join accounts ON accounts.id = books.account_id
    @lookup_join brokers ON brokers.tag = accounts.broker
    WHERE
        books.id = webhooks.book_id AND accounts.active = 1 AND accounts.api_access = 1
        AND brokers.moved_store IS NULL
)

-- name: renew_webhook
UPDATE webhooks SET lease_until_us = $4 WHERE @held_webhook AND @account_gets_webhooks RETURNING *, 0 AS newest

-- name: lock_held_webhook
UPDATE webhooks SET holder = holder WHERE @held_webhook RETURNING id

-- name: skip_webhook_events
-- Not if its types are no longer those that were asked for when the holder read it: it may want these events now.
-- What failed with an event that is skipped does not count.
UPDATE webhooks
SET
    delivered_through = $5, tries = 0, lease_until_us = $4,
    failing_since_us = CASE WHEN tries > 0 THEN NULL ELSE failing_since_us END
WHERE @held_webhook AND @account_gets_webhooks AND delivered_through < $5 AND types = $6
RETURNING *, 0 AS newest

-- name: deliver_webhook_event
-- Also if it or its account was switched off during the call: the event was delivered. Then the lease ends.
UPDATE webhooks
SET
    delivered_through = $5, tries = 0, failing_since_us = NULL, last_delivered_at_us = $6, attempts = attempts + 1,
    lease_until_us = CASE WHEN state = 'on' AND @account_gets_webhooks THEN CAST($4 AS BIGINT) ELSE 0 END
WHERE book_id = $1 AND id = $2 AND holder = $3 AND delivered_through < $5
RETURNING *, 0 AS newest

-- name: fail_webhook_event
-- It is tried again at $6. The lease ends.
UPDATE webhooks
SET
    tries = tries + 1, failing_since_us = coalesce(failing_since_us, $5), attempts = attempts + 1,
    next_try_at_us = $6, lease_until_us = 0
WHERE @held_webhook AND delivered_through = $4
RETURNING attempts

-- name: give_up_webhook_event
-- Not if it has another URL than $7 by now, which was never called.
UPDATE webhooks
SET
    delivered_through = $6, tries = 0, failing_since_us = coalesce(failing_since_us, $5), attempts = attempts + 1,
    next_try_at_us = $5, lease_until_us = 0
WHERE @held_webhook AND delivered_through = $4 AND url = $7
RETURNING attempts

-- name: stop_webhook
-- As above, not if it has another URL by now.
UPDATE webhooks
SET
    state = 'off', off_reason = $6, off_at_us = $5, failing_since_us = coalesce(failing_since_us, $5),
    attempts = attempts + 1, replaying = 0, lease_until_us = 0
WHERE @held_webhook AND delivered_through = $4 AND url = $7
RETURNING attempts

-- name: insert_dead_event
INSERT INTO webhook_dead_events (book_id, webhook_id, number, event_id, type, dead_at_us, tries, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (book_id, webhook_id, number) DO NOTHING

-- name: replayed_dead_events
SELECT * FROM webhook_dead_events WHERE book_id = $1 AND webhook_id = $2 AND replaying = 1 ORDER BY number

-- name: forget_dead_event
DELETE FROM webhook_dead_events WHERE book_id = $1 AND webhook_id = $2 AND number = $3

-- name: keep_dead_event
UPDATE webhook_dead_events
SET replaying = 0, tries = tries + 1, error = $4
WHERE book_id = $1 AND webhook_id = $2 AND number = $3

-- name: note_replay
-- $5: when it was delivered, or NULL. If its account was switched off during the call, the lease ends.
UPDATE webhooks
SET
    attempts = attempts + 1, lease_until_us = CASE WHEN @account_gets_webhooks THEN CAST($4 AS BIGINT) ELSE 0 END,
    last_delivered_at_us = coalesce($5, last_delivered_at_us),
    failing_since_us = CASE WHEN CAST($5 AS BIGINT) IS NULL THEN failing_since_us END,
    replaying = CASE
        WHEN EXISTS (
            SELECT 1
            FROM webhook_dead_events AS dead
            WHERE dead.book_id = webhooks.book_id AND dead.webhook_id = webhooks.id AND dead.replaying = 1
        ) THEN 1
        ELSE 0
    END
WHERE @held_webhook
RETURNING *, 0 AS newest

-- name: end_empty_replay
UPDATE webhooks
SET replaying = 0
WHERE
    book_id = $1 AND id = $2 AND NOT EXISTS (
        SELECT 1
        FROM webhook_dead_events AS dead
        WHERE dead.book_id = webhooks.book_id AND dead.webhook_id = webhooks.id AND dead.replaying = 1
    )

-- name: release_webhook
-- It is behind those that wait already.
UPDATE webhooks
SET
    lease_until_us = 0,
    next_try_at_us = CASE WHEN next_try_at_us < @clock_us THEN @clock_us ELSE next_try_at_us END
WHERE book_id = $1 AND id = $2 AND holder = $3

-- name: count_webhook_attempt
UPDATE webhooks SET attempts = attempts + 1 WHERE book_id = $1 AND id = $2 RETURNING attempts

-- name: put_webhook_attempt
INSERT INTO webhook_attempts (
    book_id, webhook_id, slot, attempt, number, event_id, type, at_us, status, duration_ms, error, response
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (book_id, webhook_id, slot) DO UPDATE SET
    attempt = excluded.attempt, number = excluded.number, event_id = excluded.event_id, type = excluded.type,
    at_us = excluded.at_us, status = excluded.status, duration_ms = excluded.duration_ms, error = excluded.error,
    response = excluded.response
