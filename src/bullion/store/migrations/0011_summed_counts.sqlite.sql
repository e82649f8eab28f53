-- Counts are made of blocks of ordinals that are full, once each is: see `sum_blocks`. Orders behind those are few, and
-- are counted one by one. So an order is booked, and mostly also confirmed, without a count being touched.
ALTER TABLE books ADD COLUMN unsummed_from BIGINT NOT NULL DEFAULT 1;

UPDATE books
SET
    unsummed_from = CASE
        WHEN (order_count + 1) / 512 * 512 > archived_count THEN (order_count + 1) / 512 * 512
        ELSE archived_count + 1
    END
WHERE order_count > 0;

-- How many ordinals a block of each level holds; of the last one all of them.
CREATE VIEW block_levels AS
SELECT 0 AS level, CAST(512 AS BIGINT) AS size
UNION ALL
SELECT 1, 8192
UNION ALL
SELECT 2, 131072
UNION ALL
SELECT 3, 4611686018427387904;

-- A table by another name: a node of the version before would count in its own way, and must fail instead. Orders that
-- the API shows when it is not asked for a status are counted together as well, as `shown`.
CREATE TABLE kind_counts (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block)
) STRICT, WITHOUT ROWID;

INSERT INTO kind_counts (book_id, level, block, symbol_code, trade_type, status, orders)
SELECT
    kinds.book_id,
    levels.level,
    kinds.block * 512 / levels.size,
    kinds.symbol_code,
    kinds.trade_type,
    kinds.status,
    sum(kinds.orders)
FROM (
    SELECT counts.book_id, counts.block, counts.symbol_code, counts.trade_type, counts.status, counts.orders
    FROM order_counts AS counts
    JOIN books ON books.id = counts.book_id
    WHERE counts.level = 0 AND counts.orders > 0 AND counts.block * 512 + 511 < books.unsummed_from
    UNION ALL
    SELECT counts.book_id, counts.block, '', '', 'shown', counts.orders
    FROM order_counts AS counts
    JOIN books ON books.id = counts.book_id
    WHERE
        counts.level = 0
        AND counts.orders > 0
        AND counts.block * 512 + 511 < books.unsummed_from
        AND counts.status NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere')
) AS kinds
CROSS JOIN block_levels AS levels
GROUP BY 1, 2, 3, 4, 5, 6;

DROP TABLE order_counts;
