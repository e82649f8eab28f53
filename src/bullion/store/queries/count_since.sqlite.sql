-- How many orders of some kinds there are in some summed blocks, and with them among the ordinals from $4 to $5. $2 has
-- the kinds, each as status, symbol and side; $3 the blocks, as level, first and last.
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
    ) AS total
