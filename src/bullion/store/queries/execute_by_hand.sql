-- Where a simulated venue has decided before, its word stays. What the desk executes has no number: the same
-- transaction answers our request.
INSERT INTO venue_orders AS taken (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us, execution_no
)
VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $6, 0)
ON CONFLICT (order_id) DO UPDATE
SET
    outcome = excluded.outcome,
    execution_id = excluded.execution_id,
    executed_at_us = excluded.executed_at_us,
    execution_no = excluded.execution_no
WHERE taken.outcome IS NULL
