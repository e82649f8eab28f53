-- Many at once, none of them twice. One that is there stays as it is, but for how often it was sent.
INSERT INTO venue_orders AS taken (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us
)
SELECT order_id, broker, instrument, trade_type, quantity_e4, 1, due_at_us, outcome, execution_id, executed_at_us
FROM
    unnest(
        $1::TEXT [], $2::TEXT [], $3::TEXT [], $4::TEXT [], $5::BIGINT [], $6::BIGINT [], $7::TEXT [],
        $8::TEXT [], $9::BIGINT []
    ) AS sent (
        order_id, broker, instrument, trade_type, quantity_e4, due_at_us, outcome, execution_id, executed_at_us
    )
ORDER BY order_id
ON CONFLICT (order_id) DO UPDATE SET submissions = taken.submissions + 1
RETURNING order_id, due_at_us, submissions, outcome, execution_id
