-- Some accounts by their ids, each with its two books and the number of its keys.
-- A book's number is twice its account's, and one more in production. Each row is looked up by itself: see `some_orders`.
SELECT
    page.*,
    test.gold_net_e4 AS test_gold_net_e4,
    test.silver_net_e4 AS test_silver_net_e4,
    test.gold_limit_e4 AS test_gold_limit_e4,
    test.silver_limit_e4 AS test_silver_limit_e4,
    test.order_count AS test_order_count,
    test.archived_count AS test_archived_count,
    test.last_order_at_us AS test_last_order_at_us,
    test.version AS test_version,
    live.gold_net_e4 AS live_gold_net_e4,
    live.silver_net_e4 AS live_silver_net_e4,
    live.gold_limit_e4 AS live_gold_limit_e4,
    live.silver_limit_e4 AS live_silver_limit_e4,
    live.order_count AS live_order_count,
    live.archived_count AS live_archived_count,
    live.last_order_at_us AS live_last_order_at_us,
    live.version AS live_version,
    (
        SELECT count(*) FROM keys
        WHERE
            keys.account_id = page.id
            AND keys.revoked_at_us IS NULL
            AND (keys.expires_at_us IS NULL OR keys.expires_at_us > $2)
            AND (keys.overlap_ends_at_us IS NULL OR keys.overlap_ends_at_us > $2)
    ) AS working_keys,
    (
        SELECT count(*) FROM keys
        WHERE
            keys.account_id = page.id
            AND keys.revoked_at_us IS NULL
            AND keys.overlap_ends_at_us IS NULL
            AND keys.expires_at_us > $2
            AND keys.expires_at_us <= $3
    ) AS expiring_keys
FROM jsonb_array_elements_text(CAST($1 AS TEXT)::JSONB) AS wanted (id)
CROSS JOIN LATERAL (SELECT * FROM accounts WHERE accounts.id = CAST(wanted.id AS BIGINT) LIMIT 1) AS page
CROSS JOIN LATERAL (SELECT * FROM books WHERE books.id = page.id * 2 LIMIT 1) AS test
CROSS JOIN LATERAL (SELECT * FROM books WHERE books.id = page.id * 2 + 1 LIMIT 1) AS live
