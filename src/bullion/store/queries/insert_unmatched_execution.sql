-- One that was seen before stays as it is, also where a dealer has resolved it.
INSERT INTO unmatched_executions (
    broker, venue, execution_id, reason, order_id, metal, instrument, trade_type, quantity_e4, excess_e4,
    executed_at_us, seen_at_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (broker, execution_id, venue) DO NOTHING
