-- oldest level: 1
-- Candles of each symbol's middle price before premiums, for charts: first, highest, lowest and last price of a minute,
-- an hour or a day, in ten-thousandths of a rupee. Hours and days begin by the clocks of the broker's zone. The times of
-- the first and the last price let two writers of one candle be merged in any order.
CREATE TABLE rate_candles (
    broker TEXT NOT NULL REFERENCES brokers (tag),
    symbol_code TEXT NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('minute', 'hour', 'day')),
    begins_s BIGINT NOT NULL,
    open_e4 BIGINT NOT NULL,
    high_e4 BIGINT NOT NULL CHECK (high_e4 >= open_e4 AND high_e4 >= close_e4),
    low_e4 BIGINT NOT NULL CHECK (low_e4 > 0 AND low_e4 <= open_e4 AND low_e4 <= close_e4),
    close_e4 BIGINT NOT NULL,
    opened_at_us BIGINT NOT NULL,
    closed_at_us BIGINT NOT NULL CHECK (closed_at_us >= opened_at_us),
    PRIMARY KEY (broker, symbol_code, step, begins_s)
); -- SQLite: WITHOUT ROWID
CREATE INDEX rate_candles_by_age ON rate_candles (step, begins_s);

-- The rate page that anybody may see without a key: whose prices it shows, and its title. Null: there is none.
ALTER TABLE switches ADD COLUMN public_rates_group TEXT;
ALTER TABLE switches ADD COLUMN public_rates_title TEXT;
