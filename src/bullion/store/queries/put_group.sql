INSERT INTO groups (
    broker,
    code,
    trading
) VALUES ($1, $2, $3)
ON CONFLICT (broker, code) DO UPDATE SET
    trading = excluded.trading
