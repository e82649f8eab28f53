-- The desk's lists of orders, across all accounts of a broker. PostgreSQL plans them anew for each read.
--
-- In all of them $1 to $5 are the filters: symbol, status, source, request id (null for any), and the
-- earliest time. In those that read several accounts, $6 to $8 are the broker, environment and login.

-- fragment: passes
(CAST($1 AS TEXT) IS NULL OR orders.symbol_code = $1)
AND (CAST($2 AS TEXT) IS NULL OR orders.status = $2)
AND (CAST($3 AS TEXT) IS NULL OR orders.source = $3)
AND (CAST($4 AS TEXT) IS NULL OR orders.request_id = $4)
AND orders.created_at_us >= $5

-- fragment: books_of_broker
accounts.broker = $6
AND (CAST($7 AS TEXT) IS NULL OR books.environment = $7)
AND (CAST($8 AS TEXT) IS NULL OR accounts.login_id = $8)
AND books.order_count > books.archived_count

-- name: desk_order
-- One order, archived by a reset or not.
SELECT orders.*, accounts.login_id, books.archived_count
FROM orders
@lookup_join books ON books.id = orders.book_id
@lookup_join accounts ON accounts.id = books.account_id
WHERE orders.id = $1 AND accounts.broker = $2
LIMIT 1

-- fragment: orders_of_broker
-- With ids from $9 up to but not including $10. The broker is looked up for each order, so that no plan starts from the
-- accounts and sorts all their orders.
FROM orders
WHERE
    orders.id >= $9
    AND orders.id < $10
    -- Books of production have odd numbers. This spares the look-up of most orders of the other environment.
    AND (CAST($7 AS TEXT) IS NULL OR orders.book_id % 2 = CASE WHEN $7 = 'production' THEN 1 ELSE 0 END)
    AND @passes
    AND (
        SELECT accounts.broker
        FROM books
        @lookup_join accounts ON accounts.id = books.account_id
        WHERE
            books.id = orders.book_id
            AND books.archived_count < orders.ordinal
            AND (CAST($7 AS TEXT) IS NULL OR books.environment = $7)
            AND (CAST($8 AS TEXT) IS NULL OR accounts.login_id = $8)
    ) = $6

-- name: desk_orders_count
-- ORDER BY: forces the index of ids, also if a filter matches few orders and a full scan of another index looks cheaper.
SELECT count(*) AS total FROM (SELECT orders.id @orders_of_broker ORDER BY orders.id) AS counted

-- name: desk_orders
-- Newest first: by id, because ids begin with their time.
SELECT page.*, accounts.login_id, books.archived_count
FROM (SELECT orders.* @orders_of_broker ORDER BY orders.id DESC LIMIT $11 OFFSET $12) AS page
@lookup_join books ON books.id = page.book_id
@lookup_join accounts ON accounts.id = books.account_id
ORDER BY page.id DESC

-- fragment: sums_of(orders_of_list)
-- What the newest orders of a list come to, by kind.
SELECT
    page.production, page.metal, page.trade_type, page.status, count(*) AS orders,
    CAST(sum(page.quantity_e4) AS BIGINT) AS quantity_e4,
    CAST(sum(page.total_paise) AS BIGINT) AS total_paise,
    CAST(coalesce(sum(page.realized_pnl_paise), 0) AS BIGINT) AS realized_pnl_paise
FROM (
    SELECT
        orders.book_id % 2 AS production, orders.metal, orders.trade_type, orders.status, orders.quantity_e4,
        orders.total_paise, orders.realized_pnl_paise
    {orders_of_list} ORDER BY orders.id DESC LIMIT $11 OFFSET $12
) AS page
GROUP BY page.production, page.metal, page.trade_type, page.status

-- name: desk_order_sums
@sums_of(@orders_of_broker)

-- name: desk_status_order_sums
@sums_of(@orders_of_broker AND @in_status_index)

-- fragment: in_status_index
-- The condition of the index `orders_by_status`, which has no test orders.
orders.status = $2 AND orders.status <> 'filled'

-- name: desk_search_start
-- The id with which a search back from id $2 ends that looks at $3 orders. No row if there are fewer from id $1 on.
SELECT orders.id FROM orders WHERE orders.id >= $1 AND orders.id < $2 ORDER BY orders.id DESC LIMIT 1 OFFSET $3

-- name: desk_status_search_start
-- The same for orders of the status $2, from id $1 up to but not including $3.
SELECT orders.id
FROM orders
WHERE @in_status_index AND orders.id >= $1 AND orders.id < $3
ORDER BY orders.id DESC
LIMIT 1 OFFSET $4

-- name: desk_orders_count_to
-- Counts to $11 at most.
SELECT count(*) AS total FROM (SELECT orders.id @orders_of_broker ORDER BY orders.id DESC LIMIT $11) AS counted

-- name: desk_status_orders_count_to
SELECT count(*) AS total
FROM (SELECT orders.id @orders_of_broker AND @in_status_index ORDER BY orders.id DESC LIMIT $11) AS counted

-- name: desk_status_orders
SELECT page.*, accounts.login_id, books.archived_count
FROM (
    SELECT orders.* @orders_of_broker AND @in_status_index ORDER BY orders.id DESC LIMIT $11 OFFSET $12
) AS page
@lookup_join books ON books.id = page.book_id
@lookup_join accounts ON accounts.id = books.account_id
ORDER BY page.id DESC

-- name: newest_production_orders
-- The newest $2 production orders of the broker $1. They are among the newest of the $2 books that traded last.
SELECT orders.*, newest.login_id, newest.archived_count
FROM (
    SELECT
        books.id, books.archived_count, accounts.login_id,
        CASE
            WHEN books.order_count - $2 > books.archived_count THEN books.order_count - $2
            ELSE books.archived_count
        END AS before
    FROM accounts
    @lookup_join books ON books.account_id = accounts.id
    WHERE accounts.broker = $1 AND books.environment = 'production' AND books.order_count > books.archived_count
    ORDER BY books.last_order_at_us DESC
    LIMIT $2
) AS newest
@lookup_join orders ON orders.book_id = newest.id AND orders.ordinal > newest.before
ORDER BY orders.created_at_us DESC, orders.ordinal DESC, orders.id DESC
LIMIT $2

-- fragment: orders_of_book(book, first)
SELECT * FROM orders WHERE book_id = {book} AND ordinal >= {first} AND @passes

-- name: desk_account_orders_count
-- The orders of one account: $6 and $8 are its books, $7 and $9 the first ordinal in each.
SELECT count(*) AS total
FROM (@orders_of_book($6, $7) UNION ALL @orders_of_book($8, $9)) AS counted

-- fragment: newest_of_book(book, first)
SELECT *
FROM (
    @orders_of_book({book}, {first})
    ORDER BY ordinal DESC
    LIMIT CAST($10 AS BIGINT) + CAST($11 AS BIGINT)
) AS newest

-- name: desk_account_orders
-- Newest first, at most one page of orders from each book.
SELECT page.*, accounts.login_id, books.archived_count
FROM (
    SELECT *
    FROM (@newest_of_book($6, $7) UNION ALL @newest_of_book($8, $9)) AS newest
    ORDER BY created_at_us DESC, ordinal DESC, id DESC
    LIMIT $10 OFFSET $11
) AS page
INNER JOIN books ON books.id = page.book_id
INNER JOIN accounts ON accounts.id = books.account_id
ORDER BY page.created_at_us DESC, page.ordinal DESC, page.id DESC

-- fragment: by_reference
-- Each book has an index of the clients' own references.
FROM accounts
@lookup_join books ON books.account_id = accounts.id
@lookup_join orders ON orders.book_id = books.id AND orders.ordinal > books.archived_count
WHERE orders.client_order_id = $9 AND @books_of_broker AND @passes

-- name: desk_orders_by_reference_count
SELECT count(*) AS total @by_reference

-- name: desk_orders_by_reference
SELECT orders.*, accounts.login_id, books.archived_count @by_reference
ORDER BY orders.created_at_us DESC, orders.ordinal DESC, orders.id DESC
LIMIT $10 OFFSET $11

-- fragment: kind_counts(level)
-- Orders that the API hides are counted separately, and the desk sees both.
FROM accounts
@lookup_join books ON books.account_id = accounts.id
@lookup_join block_counts AS counts ON counts.book_id = books.id AND counts.level = {level} AND counts.symbol_code <> ''
WHERE
    @books_of_broker
    AND (CAST($1 AS TEXT) IS NULL OR counts.symbol_code = $1)
    AND (CAST($2 AS TEXT) IS NULL OR counts.status IN ($2, CAST($2 AS TEXT) || ' elsewhere'))
    AND counts.orders > 0

-- fragment: unsummed_orders
-- Orders after the last block that is summed.
FROM accounts
@lookup_join books ON books.account_id = accounts.id
@lookup_join orders ON orders.book_id = books.id AND orders.ordinal BETWEEN books.unsummed_from AND books.order_count
WHERE @books_of_broker AND @passes

-- name: desk_kinds_count
-- How many orders of a symbol and status the books have: from the counts, and one by one where no block is summed.
SELECT CAST(
    (SELECT coalesce(sum(counts.orders), 0) @kind_counts(3)) + (SELECT count(*) @unsummed_orders)
    AS BIGINT
) AS total

-- name: desk_listed_count
-- How many orders the books have, whatever their symbol and status.
SELECT CAST(coalesce(sum(books.order_count - books.archived_count), 0) AS BIGINT) AS total
FROM accounts
@lookup_join books ON books.account_id = accounts.id
WHERE
    accounts.broker = $1
    AND (CAST($2 AS TEXT) IS NULL OR books.environment = $2)
    AND (CAST($3 AS TEXT) IS NULL OR accounts.login_id = $3)

-- name: desk_few_orders
-- The same orders, if there are few: the counts say which blocks of $9 ordinals have them. Only those blocks, and blocks
-- that are not summed, are read. DISTINCT: hidden orders are counted separately.
WITH places AS MATERIALIZED (
    SELECT DISTINCT
        counts.book_id, counts.block * $9 AS low, counts.block * $9 + $9 - 1 AS high, counts.symbol_code,
        counts.trade_type, replace(counts.status, ' elsewhere', '') AS status, accounts.login_id, books.archived_count
    @kind_counts(0)
)

SELECT *
FROM (
    SELECT orders.*, places.login_id, places.archived_count
    FROM places
    @lookup_join orders
        ON
            orders.book_id = places.book_id
            AND orders.status = places.status
            AND orders.symbol_code = places.symbol_code
            AND orders.trade_type = places.trade_type
            AND orders.ordinal BETWEEN places.low AND places.high
            AND orders.@in_kind_index
    WHERE orders.ordinal > places.archived_count AND @passes
    UNION ALL
    SELECT orders.*, accounts.login_id, books.archived_count @unsummed_orders
) AS few
ORDER BY created_at_us DESC, ordinal DESC, id DESC
LIMIT $10 OFFSET $11

-- name: timeline_span_end
-- The first id after the next $3 orders from id $1 on. No row if there are fewer before id $2.
SELECT orders.id FROM orders WHERE orders.id >= $1 AND orders.id < $2 ORDER BY orders.id LIMIT 1 OFFSET $3

-- fragment: is_listed
orders.ordinal > (SELECT books.archived_count FROM books WHERE books.id = orders.book_id)

-- name: timeline_counts
-- How many listed orders of each kind have ids from $1 up to but not including $2.
SELECT
    accounts.broker, books.environment, found.source, found.symbol_code, found.status,
    CAST(sum(found.orders) AS BIGINT) AS orders
FROM (
    SELECT orders.book_id, orders.source, orders.symbol_code, orders.status, count(*) AS orders
    FROM orders
    WHERE orders.id >= $1 AND orders.id < $2 AND @is_listed
    GROUP BY orders.book_id, orders.source, orders.symbol_code, orders.status
) AS found
@lookup_join books ON books.id = found.book_id
@lookup_join accounts ON accounts.id = books.account_id
GROUP BY accounts.broker, books.environment, found.source, found.symbol_code, found.status

-- name: timeline_pending
-- The pending orders with ids from $1 up to but not including $2.
SELECT orders.id FROM orders WHERE orders.id >= $1 AND orders.id < $2 AND orders.status = 'pending'

-- name: timeline_resolved
-- Which of the orders with the ids in $1, as JSON, are no longer pending.
SELECT orders.id
FROM @json_list($1)
@lookup_join orders ON orders.id = items.value
WHERE orders.status <> 'pending'

-- name: timeline_changes
-- What the desk changed since $1, by the partial index `order_events_by_time`.
SELECT orders.id, events.status, events.at_us
FROM order_events AS events
@lookup_join orders ON orders.book_id = events.book_id AND orders.ordinal = events.ordinal
WHERE events.at_us >= $1 AND events.status IN ('closing', 'closed', 'deleted')

-- name: timeline_check
-- How many orders of all books are listed, by the books themselves; and how many of them have ids from $1 on.
SELECT
    (SELECT CAST(coalesce(sum(order_count - archived_count), 0) AS BIGINT) FROM books WHERE id >= 0) AS listed,
    (SELECT count(*) FROM orders WHERE orders.id >= $1 AND @is_listed) AS newer
