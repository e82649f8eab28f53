INSERT INTO symbols (
    broker,
    code,
    metal,
    quoted_weight_e4,
    trading,
    buy_offered,
    sell_offered,
    frozen,
    minimum_e4,
    maximum_e4,
    step_e4,
    rate_age_s_max,
    freeze_after_s,
    pricing
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (broker, code) DO UPDATE SET
    metal = excluded.metal,
    quoted_weight_e4 = excluded.quoted_weight_e4,
    trading = excluded.trading,
    buy_offered = excluded.buy_offered,
    sell_offered = excluded.sell_offered,
    frozen = excluded.frozen,
    minimum_e4 = excluded.minimum_e4,
    maximum_e4 = excluded.maximum_e4,
    step_e4 = excluded.step_e4,
    rate_age_s_max = excluded.rate_age_s_max,
    freeze_after_s = excluded.freeze_after_s,
    pricing = excluded.pricing
