-- All orders so far are archived: nothing is open, nothing is listed, and the ordinals go on.
UPDATE books
SET gold_net_e4 = 0, silver_net_e4 = 0, archived_count = order_count, version = version + 1
WHERE id = $1
