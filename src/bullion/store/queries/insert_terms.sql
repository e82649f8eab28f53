INSERT INTO group_terms (
    broker,
    group_code,
    symbol_code,
    buy_premium_paise,
    sell_premium_paise,
    minimum_e4,
    maximum_e4,
    step_e4
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
