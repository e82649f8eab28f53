INSERT INTO venues (broker, mode, delay_ms, instruments)
VALUES ($1, $2, $3, $4)
ON CONFLICT (broker) DO UPDATE
SET mode = excluded.mode, delay_ms = excluded.delay_ms, instruments = excluded.instruments
