-- Many at once, none of them twice. One that is there stays as it is, but for how often it was sent. Numbers may be
-- left out.
--
-- $1 are the orders as JSON: one value is handed over far quicker than nine lists.
INSERT INTO venue_orders AS taken (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us, execution_no
)
SELECT
    row ->> 0,
    row ->> 1,
    row ->> 2,
    row ->> 3,
    (row ->> 4)::BIGINT,
    1,
    (row ->> 5)::BIGINT,
    row ->> 6,
    row ->> 7,
    (row ->> 8)::BIGINT,
    CASE WHEN row ->> 6 = 'confirmed' THEN nextval('venue_execution_numbers') END
FROM jsonb_array_elements($1::JSONB) AS sent (row)
ORDER BY 1
ON CONFLICT (order_id) DO UPDATE SET submissions = taken.submissions + 1
RETURNING order_id, due_at_us, submissions, outcome, execution_id
