-- A tick older than the one that is there is ignored, unless that one cannot be read: its times are none.
INSERT INTO ticks (broker, instrument, bid_e6, ask_e6, at_us, moved_at_us, version)
VALUES ($1, $2, $3, $4, $5, $5, $6)
ON CONFLICT (broker, instrument) DO UPDATE
SET
    bid_e6 = excluded.bid_e6,
    ask_e6 = excluded.ask_e6,
    at_us = excluded.at_us,
    moved_at_us = CASE
        WHEN
            ticks.bid_e6 = excluded.bid_e6
            AND ticks.ask_e6 = excluded.ask_e6
            AND ticks.moved_at_us BETWEEN 0 AND 253402300799999999
            THEN ticks.moved_at_us
        ELSE excluded.at_us
    END,
    version = excluded.version
WHERE excluded.at_us >= ticks.at_us OR ticks.at_us > 253402300799999999
