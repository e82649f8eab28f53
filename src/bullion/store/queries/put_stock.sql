INSERT INTO stocks (
    broker,
    symbol_code,
    weight_e4
) VALUES ($1, $2, $3)
ON CONFLICT (broker, symbol_code) DO UPDATE SET
    weight_e4 = excluded.weight_e4
