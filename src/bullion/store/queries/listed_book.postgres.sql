-- The book of which a list is read. From here on until the transaction ends, plans are kept as they are for any
-- values: making one anew takes longer than all that these queries do. And rows come in the order of an index.
SELECT
    id, gold_net_e4, silver_net_e4, gold_limit_e4, silver_limit_e4, order_count, archived_count,
    last_order_at_us, version, unsummed_from,
    set_config('plan_cache_mode', 'force_generic_plan', true) AS kept_plans,
    set_config('enable_bitmapscan', 'off', true) AS by_index
FROM books
WHERE id = $1
