-- The desk's search for orders and keys by what somebody typed. PostgreSQL plans these queries anew for each read.
--
-- $1 is the broker. A part of a text is searched for as a range of an index: from $2 on, and before $3.

-- fragment: with_account
-- An order beside its account.
SELECT orders.*, accounts.login_id, books.archived_count

-- fragment: of_broker
-- The broker is looked up for each order, so that no plan starts from the accounts.
(
    SELECT accounts.broker
    FROM books
    @lookup_join accounts ON accounts.id = books.account_id
    WHERE books.id = orders.book_id
) = $1

-- name: search_order_is_bytewise
-- Whether the store compares texts byte by byte. Otherwise texts with one beginning are not a range of an index.
SELECT CASE WHEN 'B' < 'a' AND 'a-c' < 'ab' THEN 1 ELSE 0 END AS bytewise

-- name: search_deals
@with_account
FROM orders
@lookup_join books ON books.id = orders.book_id
@lookup_join accounts ON accounts.id = books.account_id
WHERE orders.deal_no = $2 AND accounts.broker = $1
LIMIT $3

-- name: search_test_orders
-- The newest test orders with number $2: each account may have one. Test books have even ids. Sorted by a column that
-- has no index: by id, PostgreSQL would read all orders from the newest on.
@with_account
FROM (
    SELECT orders.book_id, orders.ordinal
    FROM accounts
    @lookup_join books ON books.id = accounts.id * 2 AND books.order_count >= $2
    @lookup_join orders ON orders.book_id = books.id AND orders.ordinal = $2
    WHERE accounts.broker = $1
    ORDER BY orders.created_at_us DESC
    LIMIT $3
) AS newest
@lookup_join orders ON orders.book_id = newest.book_id AND orders.ordinal = newest.ordinal
@lookup_join books ON books.id = orders.book_id
@lookup_join accounts ON accounts.id = books.account_id
ORDER BY orders.created_at_us DESC

-- name: search_order_ids
-- Newest first: ids begin with their time. $4 and $5 are a range of request ids.
SELECT page.*, accounts.login_id, books.archived_count
FROM (
    SELECT orders.*
    FROM orders
    WHERE
        orders.id >= $2
        AND orders.id < $3
        AND orders.request_id >= $4
        AND orders.request_id < $5
        AND @of_broker
    ORDER BY orders.id DESC
    LIMIT $6
) AS page
@lookup_join books ON books.id = page.book_id
@lookup_join accounts ON accounts.id = books.account_id
ORDER BY page.id DESC

-- fragment: books_with_orders
FROM accounts
@lookup_join books ON books.account_id = accounts.id AND books.order_count > books.archived_count

-- name: search_client_order_ids
@with_account
@books_with_orders
@lookup_join orders ON orders.book_id = books.id AND orders.ordinal > books.archived_count
WHERE accounts.broker = $1 AND orders.client_order_id >= $2 AND orders.client_order_id < $3
LIMIT $4

-- name: search_same_client_order_id
@with_account
@books_with_orders
@lookup_join orders ON orders.book_id = books.id AND orders.ordinal > books.archived_count
WHERE accounts.broker = $1 AND orders.client_order_id = $2
LIMIT $3

-- fragment: next_channel(after)
-- The first channel after this one that any of the broker's production books has orders of.
SELECT min(firsts.source)
FROM (
    SELECT (
        SELECT min(orders.source) FROM orders WHERE orders.book_id = books.id AND orders.source > {after}
    ) AS source
    FROM accounts
    @lookup_join books ON books.id = accounts.id * 2 + 1
    WHERE accounts.broker = $1 AND books.order_count > 0
) AS firsts

-- name: search_channels
-- The channels of the broker's production orders. Test orders have the channel `api` alone.
WITH RECURSIVE channels (source) AS (
    SELECT (@next_channel(''))
    UNION ALL
    SELECT (@next_channel(channels.source)) FROM channels WHERE channels.source IS NOT NULL
)

SELECT source FROM channels WHERE source IS NOT NULL

-- name: search_idempotency_keys
-- Of the channel $4. Also orders that a reset archived: a condition on the ordinal could lead to another index.
@with_account
@books_with_orders
@lookup_join orders ON orders.book_id = books.id
WHERE
    accounts.broker = $1
    AND orders.source = $4
    AND orders.idempotency_key >= $2
    AND orders.idempotency_key < $3
LIMIT $5

-- name: search_same_idempotency_key
-- Of the channel $3.
@with_account
@books_with_orders
@lookup_join orders ON orders.book_id = books.id
WHERE accounts.broker = $1 AND orders.source = $3 AND orders.idempotency_key = $2
LIMIT $4

-- name: search_keys
@keys_with_use
WHERE keys.key_id >= $2 AND keys.key_id < $3 AND accounts.broker = $1
ORDER BY keys.key_id
LIMIT $4

-- name: search_accounts
-- By their ids ($1, as JSON).
SELECT accounts.* FROM @json_list($1) @lookup_join accounts ON accounts.id = CAST(items.value AS BIGINT)
