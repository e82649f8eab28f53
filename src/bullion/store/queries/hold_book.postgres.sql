-- As it is now, and nobody else may change it before this transaction ends.
SELECT
    id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
    last_order_at_us, version, unsummed_from
FROM books
WHERE id = $1
FOR UPDATE
