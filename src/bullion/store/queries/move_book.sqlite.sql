UPDATE books
SET gold_net_e4 = ?, silver_net_e4 = ?, order_count = ?, last_order_at_us = ?, version = version + 1
WHERE id = ?
