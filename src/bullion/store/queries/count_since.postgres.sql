-- How many orders of some kinds there are in some summed blocks, and with them among the ordinals from $4 to $5. $2 has
-- the kinds, each as status, symbol and side; $3 the blocks, as level, first and last. Both are taken apart first, and
-- each is asked for by itself (OFFSET 0 keeps it so): by the whole of its key, also by a plan made on an empty table.
-- Where the kind is all that the API shows, no order is named by it: then $6 is what else would be $5, and otherwise it
-- is before $4.
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
            SELECT kind ->> 0 AS status, kind ->> 1 AS symbol_code, kind ->> 2 AS trade_type
            FROM jsonb_array_elements(CAST($2 AS TEXT)::JSONB) AS listed (kind)
            OFFSET 0
        ) AS kinds
        CROSS JOIN LATERAL (
            SELECT orders.ordinal
            FROM orders
            WHERE
                orders.book_id = $1
                AND orders.status = kinds.status
                AND orders.symbol_code = kinds.symbol_code
                AND orders.trade_type = kinds.trade_type
                AND orders.ordinal BETWEEN $4 AND $5
                AND orders.metal <> ''
                AND (orders.status NOT IN ('pending', 'rejected') OR orders.source = 'api')
            ORDER BY orders.ordinal
        ) AS found
    )
    +
    (
        SELECT count(*)
        FROM (
            SELECT source, status
            FROM orders
            WHERE book_id = $1 AND ordinal BETWEEN $4 AND $6
            ORDER BY ordinal
        ) AS newer
        WHERE status <> 'deleted' AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
    )
    AS BIGINT
) AS total
