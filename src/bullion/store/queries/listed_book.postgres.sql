-- The book of which a list is read. From here on until the transaction ends, groups are gathered by hashing: to sort
-- some hundred orders by their kinds takes as long as to find them.
SELECT
    id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
    last_order_at_us, version, unsummed_from,
    set_config('enable_sort', 'off', true) AS by_hashing
FROM books
WHERE id = $1
