DELETE FROM order_counts WHERE book_id = $1
