-- Blocks of ordinals half as large: fewer orders are counted one by one, behind the last full block and within the
-- one where a page or a time begins. All is counted anew, from the orders themselves.
UPDATE books
SET
    unsummed_from = CASE
        WHEN (order_count + 1) / 256 * 256 > archived_count THEN (order_count + 1) / 256 * 256
        ELSE archived_count + 1
    END
WHERE order_count > 0;

DROP VIEW block_levels;

-- How many ordinals a block of each level holds; of the last one all of them.
CREATE VIEW block_levels AS
SELECT 0 AS level, CAST(256 AS BIGINT) AS size
UNION ALL
SELECT 1, 4096
UNION ALL
SELECT 2, 65536
UNION ALL
SELECT 3, 4611686018427387904;

-- A table by another name, as in step 11: a node of the version before must fail rather than count in its own way.
CREATE TABLE block_counts (
    book_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    block BIGINT NOT NULL,
    symbol_code TEXT NOT NULL,
    trade_type TEXT NOT NULL,
    status TEXT NOT NULL,
    orders BIGINT NOT NULL CHECK (orders >= 0),
    PRIMARY KEY (book_id, level, symbol_code, trade_type, status, block)
);

INSERT INTO block_counts (book_id, level, block, symbol_code, trade_type, status, orders)
WITH small AS MATERIALIZED (
    SELECT
        orders.book_id,
        orders.ordinal / 256 AS block,
        orders.symbol_code,
        orders.trade_type,
        CASE
            WHEN orders.source <> 'api' AND orders.status IN ('pending', 'rejected') THEN orders.status || ' elsewhere'
            ELSE orders.status
        END AS kept_as,
        count(*) AS number
    FROM books
    JOIN orders ON orders.book_id = books.id
    WHERE orders.ordinal > books.archived_count AND orders.ordinal < books.unsummed_from
    GROUP BY 1, 2, 3, 4, 5
)

SELECT
    kinds.book_id,
    levels.level,
    kinds.block * 256 / levels.size,
    kinds.symbol_code,
    kinds.trade_type,
    kinds.kept_as,
    sum(kinds.number)
FROM (
    SELECT book_id, block, symbol_code, trade_type, kept_as, number FROM small
    UNION ALL
    SELECT book_id, block, '', '', 'shown', number
    FROM small
    WHERE kept_as NOT IN ('deleted', 'pending elsewhere', 'rejected elsewhere')
) AS kinds
CROSS JOIN block_levels AS levels
GROUP BY 1, 2, 3, 4, 5, 6;

DROP TABLE kind_counts;
