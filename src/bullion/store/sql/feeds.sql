-- What the desk asks of the live feed.

-- name: feed_preferences
SELECT instrument, source, at_us FROM feed_preferences

-- name: put_feed_preference
INSERT INTO feed_preferences (instrument, source, at_us)
VALUES ($1, $2, $3)
ON CONFLICT (instrument) DO UPDATE SET source = excluded.source, at_us = excluded.at_us

-- name: delete_feed_preference
DELETE FROM feed_preferences WHERE instrument = $1

-- name: feed_releases
SELECT source, instrument, level_e6, at_us FROM feed_releases

-- name: put_feed_release
INSERT INTO feed_releases (source, instrument, level_e6, at_us)
VALUES ($1, $2, $3, $4)
ON CONFLICT (source, instrument) DO UPDATE SET level_e6 = excluded.level_e6, at_us = excluded.at_us

-- name: feed_guards
SELECT instrument, numbers FROM feed_guards

-- name: put_feed_guard
INSERT INTO feed_guards (instrument, numbers)
VALUES ($1, $2)
ON CONFLICT (instrument) DO UPDATE SET numbers = excluded.numbers
