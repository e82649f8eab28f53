-- Requests that wait for the venue's word, those of the oldest orders first. Each row is looked up by
-- itself: see `some_orders`.
SELECT
    found.*,
    accounts.login_id,
    books.archived_count,
    page.instrument,
    page.venue,
    page.state,
    page.tries,
    page.words,
    page.due_at_us,
    page.outcome,
    page.execution_id,
    page.answered_at_us,
    page.resolved_by,
    page.resolution
FROM (
    SELECT *
    FROM hedge_requests
    WHERE broker = $1 AND state = 'waiting'
    ORDER BY order_id
    LIMIT $2 OFFSET $3
) AS page
CROSS JOIN LATERAL (
    SELECT *
    FROM orders
    WHERE orders.book_id = page.book_id AND orders.ordinal BETWEEN page.ordinal AND page.ordinal
    ORDER BY orders.ordinal
    LIMIT 1
) AS found
CROSS JOIN LATERAL (SELECT * FROM books WHERE books.id = page.book_id LIMIT 1) AS books
CROSS JOIN LATERAL (SELECT * FROM accounts WHERE accounts.id = books.account_id LIMIT 1) AS accounts
ORDER BY page.order_id
