-- How many orders of some kinds there are in some summed blocks, and with them among the ordinals from $4 to $5. $2 has
-- the kinds, each as status, symbol and side; $3 the blocks, as level, first and last. Both are taken apart first, and
-- each is asked for by itself (OFFSET 0 keeps it so): by the whole of its key, also by a plan made on an empty table.
SELECT CAST(
    (
        SELECT coalesce(sum(counts.orders), 0)
        FROM (
            SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
            FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
            OFFSET 0
        ) AS kinds
        CROSS JOIN (
            SELECT (span ->> 0)::BIGINT AS level, (span ->> 1)::BIGINT AS first, (span ->> 2)::BIGINT AS last
            FROM jsonb_array_elements(CAST($3 AS TEXT)::JSONB) AS listed (span)
            OFFSET 0
        ) AS spans
        CROSS JOIN LATERAL (
            SELECT kind_counts.orders
            FROM kind_counts
            WHERE
                kind_counts.book_id = $1
                AND kind_counts.level = spans.level
                AND kind_counts.symbol_code = kinds.symbol_code
                AND kind_counts.trade_type = kinds.trade_type
                AND kind_counts.status = kinds.status
                AND kind_counts.block BETWEEN spans.first AND spans.last
            OFFSET 0
        ) AS counts
    )
    +
    (
        SELECT count(*)
        FROM (
            SELECT source, status, symbol_code, trade_type
            FROM orders
            WHERE book_id = $1 AND ordinal BETWEEN $4 AND $5
            ORDER BY ordinal
        ) AS newer
        WHERE
            (CAST($6 AS TEXT) IS NULL OR symbol_code = $6)
            AND (CAST($7 AS TEXT) IS NULL OR trade_type = $7)
            AND (
                CAST($8 AS TEXT) IS NULL
                OR (
                    (status = $8 OR ($8 = 'all' AND status <> 'deleted'))
                    AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
                )
            )
    )
    AS BIGINT
) AS total
