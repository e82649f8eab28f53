DELETE FROM block_counts WHERE book_id = $1
