-- oldest level: 1
-- Until when a rate of the desk holds against newer ones of the feed. Null: not at all.
ALTER TABLE ticks ADD COLUMN pinned_until_us BIGINT;

-- What the desk asks of the live feed, for the node that runs it. All of it is for the whole deployment.
CREATE TABLE feed_preferences (
    instrument TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    at_us BIGINT NOT NULL
);

-- Held quotes that the desk believes: near the level (bid plus ask) that it saw. Each takes effect once.
CREATE TABLE feed_releases (
    source TEXT NOT NULL,
    instrument TEXT NOT NULL,
    level_e6 BIGINT NOT NULL CHECK (level_e6 > 0),
    at_us BIGINT NOT NULL,
    PRIMARY KEY (source, instrument)
);

-- The numbers of the guard that the desk changed, as a JSON object.
CREATE TABLE feed_guards (
    instrument TEXT NOT NULL PRIMARY KEY,
    numbers TEXT NOT NULL
);
