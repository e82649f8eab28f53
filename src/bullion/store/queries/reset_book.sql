-- All orders so far are archived: nothing is open, nothing is listed or left to be counted, and the ordinals go on.
UPDATE books
SET
    gold_net_e4 = 0,
    silver_net_e4 = 0,
    archived_count = order_count,
    unsummed_from = order_count + 1,
    version = version + 1
WHERE id = $1
