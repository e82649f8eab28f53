-- Requests that wait for the venue's word, those of the oldest orders first.
SELECT
    orders.*,
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
INNER JOIN orders ON orders.book_id = page.book_id AND orders.ordinal = page.ordinal
INNER JOIN books ON books.id = page.book_id
INNER JOIN accounts ON accounts.id = books.account_id
ORDER BY page.order_id
