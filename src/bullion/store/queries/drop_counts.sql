DELETE FROM kind_counts WHERE book_id = $1
