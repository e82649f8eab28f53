INSERT INTO switches (
    broker,
    production,
    paused,
    halted,
    price_tolerance_percent_e4,
    trading_hours,
    reads_per_minute,
    orders_per_minute,
    orders_per_10_seconds,
    account_orders_per_minute,
    failed_auth_per_minute
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (broker) DO UPDATE SET
    production = excluded.production,
    paused = excluded.paused,
    halted = excluded.halted,
    price_tolerance_percent_e4 = excluded.price_tolerance_percent_e4,
    trading_hours = excluded.trading_hours,
    reads_per_minute = excluded.reads_per_minute,
    orders_per_minute = excluded.orders_per_minute,
    orders_per_10_seconds = excluded.orders_per_10_seconds,
    account_orders_per_minute = excluded.account_orders_per_minute,
    failed_auth_per_minute = excluded.failed_auth_per_minute
