-- How many orders of some kinds there are in some summed blocks, and with them among the ordinals from $4 to $5. $2 has
-- the kinds, each as status, symbol and side; $3 the blocks, as level, first and last. Where the kind is all that the API
-- shows, no order is named by it: then $6 is what else would be $5, and otherwise it is before $4.
SELECT
    (
        SELECT coalesce(sum(counts.orders), 0)
        FROM json_each($2) AS kinds
        CROSS JOIN json_each($3) AS spans
        CROSS JOIN kind_counts AS counts
            ON
                counts.book_id = $1
                AND counts.level = json_extract(spans.value, '$[0]')
                AND counts.symbol_code = json_extract(kinds.value, '$[1]')
                AND counts.trade_type = json_extract(kinds.value, '$[2]')
                AND counts.status = json_extract(kinds.value, '$[0]')
                AND counts.block BETWEEN json_extract(spans.value, '$[1]') AND json_extract(spans.value, '$[2]')
    )
    +
    (
        SELECT count(*)
        FROM json_each($2) AS kinds
        CROSS JOIN orders
            ON
                orders.book_id = $1
                AND orders.status = json_extract(kinds.value, '$[0]')
                AND orders.symbol_code = json_extract(kinds.value, '$[1]')
                AND orders.trade_type = json_extract(kinds.value, '$[2]')
                AND orders.ordinal BETWEEN $4 AND $5
                AND orders.book_id > 0
        WHERE orders.status NOT IN ('pending', 'rejected') OR orders.source = 'api'
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
    ) AS total
