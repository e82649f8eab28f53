-- One that is there stays as it is, but for how often it was sent. Numbers may be left out.
INSERT INTO venue_orders AS taken (
    order_id, broker, instrument, trade_type, quantity_e4, submissions, due_at_us, outcome, execution_id,
    executed_at_us, execution_no
)
VALUES (
    $1, $2, $3, $4, $5, 1, $6, $7, $8, $9,
    CASE
        WHEN $7 = 'confirmed'
            THEN nextval('venue_execution_numbers')
    END
)
ON CONFLICT (order_id) DO UPDATE SET submissions = taken.submissions + 1
RETURNING *
