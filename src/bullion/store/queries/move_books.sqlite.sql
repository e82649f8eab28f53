WITH wanted (id, gold_net_e4, silver_net_e4, order_count, last_order_at_us) AS (VALUES $rows)

UPDATE books
SET
    gold_net_e4 = wanted.gold_net_e4,
    silver_net_e4 = wanted.silver_net_e4,
    order_count = wanted.order_count,
    last_order_at_us = wanted.last_order_at_us,
    version = version + 1
FROM wanted
WHERE books.id = wanted.id
