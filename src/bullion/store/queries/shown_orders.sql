-- How many orders the API shows when it is asked for nothing but all: in blocks that are summed, and from $2 on, where
-- they are not. ORDER BY: by the primary key, also by a plan made on an empty table.
SELECT
    coalesce(
        (
            SELECT orders
            FROM block_counts
            WHERE
                book_id = $1
                AND level = 3
                AND symbol_code = ''
                AND trade_type = ''
                AND status = 'shown'
                AND block = 0
        ),
        0
    ) AS summed,
    (
        SELECT count(*)
        FROM (SELECT source, status FROM orders WHERE book_id = $1 AND ordinal >= $2 ORDER BY ordinal) AS newest
        WHERE status <> 'deleted' AND (source = 'api' OR status NOT IN ('pending', 'rejected'))
    ) AS unsummed
