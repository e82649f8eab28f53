-- The book of which a list is read.
SELECT
    id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
    last_order_at_us, version, unsummed_from
FROM books
WHERE id = $1
