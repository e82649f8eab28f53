UPDATE books
SET gold_net_e4 = gold_net_e4 - $2, silver_net_e4 = silver_net_e4 - $3, version = version + 1
WHERE id = $1
