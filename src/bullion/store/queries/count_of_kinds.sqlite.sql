-- How many orders of some kinds some small blocks hold, from $3 to $4, and with them a range of ordinals within a
-- block, from $5 to $6. $2 has the kinds, each as status, symbol and side.
SELECT coalesce(
    sum(
        (
            SELECT coalesce(sum(counts.orders), 0)
            FROM order_counts AS counts
            WHERE
                counts.book_id = $1
                AND counts.level = 0
                AND counts.symbol_code = json_extract(kinds.value, '$[1]')
                AND counts.trade_type = json_extract(kinds.value, '$[2]')
                AND counts.status = json_extract(kinds.value, '$[0]')
                AND counts.block BETWEEN $3 AND $4
        )
        + (
            SELECT count(*)
            FROM orders
            WHERE
                orders.book_id = $1
                AND orders.status = json_extract(kinds.value, '$[0]')
                AND orders.symbol_code = json_extract(kinds.value, '$[1]')
                AND orders.trade_type = json_extract(kinds.value, '$[2]')
                AND orders.ordinal BETWEEN $5 AND $6
                AND orders.book_id > 0
                AND (orders.status NOT IN ('pending', 'rejected') OR orders.source = 'api')
        )
    ),
    0
) AS total
FROM json_each($2) AS kinds
