-- Candles of rates.

-- name: merge_candles
-- Rows of $1: broker, symbol, step, begin, open, high, low, close, and the times of the first and the last price. A
-- candle that is there already becomes the candle of both.
INSERT INTO rate_candles (
    broker, symbol_code, step, begins_s, open_e4, high_e4, low_e4, close_e4, opened_at_us, closed_at_us
)
SELECT
    @item(0), @item(1), @item(2), CAST(@item(3) AS BIGINT), CAST(@item(4) AS BIGINT), CAST(@item(5) AS BIGINT),
    CAST(@item(6) AS BIGINT), CAST(@item(7) AS BIGINT), CAST(@item(8) AS BIGINT), CAST(@item(9) AS BIGINT)
FROM @json_rows($1)
WHERE EXISTS (SELECT 1 FROM brokers WHERE brokers.tag = @item(0))
ON CONFLICT (broker, symbol_code, step, begins_s) DO UPDATE SET
    open_e4 = CASE
        WHEN excluded.opened_at_us < rate_candles.opened_at_us THEN excluded.open_e4 ELSE rate_candles.open_e4
    END,
    high_e4 = CASE
        WHEN excluded.high_e4 > rate_candles.high_e4 THEN excluded.high_e4 ELSE rate_candles.high_e4
    END,
    low_e4 = CASE WHEN excluded.low_e4 < rate_candles.low_e4 THEN excluded.low_e4 ELSE rate_candles.low_e4 END,
    close_e4 = CASE
        WHEN excluded.closed_at_us > rate_candles.closed_at_us THEN excluded.close_e4 ELSE rate_candles.close_e4
    END,
    opened_at_us = CASE
        WHEN excluded.opened_at_us < rate_candles.opened_at_us
            THEN excluded.opened_at_us
        ELSE rate_candles.opened_at_us
    END,
    closed_at_us = CASE
        WHEN excluded.closed_at_us > rate_candles.closed_at_us
            THEN excluded.closed_at_us
        ELSE rate_candles.closed_at_us
    END

-- name: delete_old_candles
-- Those of step $1 that began before $2: oldest first, $3 at most.
DELETE FROM rate_candles
WHERE
    step = $1
    AND (broker, symbol_code, begins_s) IN (
        SELECT oldest.broker, oldest.symbol_code, oldest.begins_s
        FROM rate_candles AS oldest
        WHERE oldest.step = $1 AND oldest.begins_s < $2
        ORDER BY oldest.begins_s
        LIMIT $3
    )

-- fragment: candle_columns
rate_candles.symbol_code, rate_candles.begins_s, rate_candles.open_e4, rate_candles.high_e4, rate_candles.low_e4,
rate_candles.close_e4, rate_candles.opened_at_us, rate_candles.closed_at_us

-- name: candles_of_symbol
SELECT @candle_columns
FROM rate_candles
WHERE broker = $1 AND symbol_code = $2 AND step = $3 AND begins_s >= $4
ORDER BY begins_s

-- name: candles_of_broker
-- Of all symbols of a broker: for each symbol, a range of the primary key.
SELECT @candle_columns
FROM symbols
@lookup_join rate_candles ON rate_candles.broker = symbols.broker AND rate_candles.symbol_code = symbols.code
WHERE symbols.broker = $1 AND rate_candles.step = $2 AND rate_candles.begins_s >= $3
ORDER BY rate_candles.symbol_code, rate_candles.begins_s

-- name: last_candle_before
-- The last candle of each symbol that began before $3, and from $4 on.
SELECT @candle_columns
FROM symbols
@lookup_join rate_candles ON rate_candles.broker = symbols.broker AND rate_candles.symbol_code = symbols.code
WHERE
    symbols.broker = $1
    AND rate_candles.step = $2
    AND rate_candles.begins_s = (
        SELECT max(earlier.begins_s)
        FROM rate_candles AS earlier
        WHERE
            earlier.broker = symbols.broker
            AND earlier.symbol_code = symbols.code
            AND earlier.step = $2
            AND earlier.begins_s < $3
            AND earlier.begins_s >= $4
    )
