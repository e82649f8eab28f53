SELECT orders.*
FROM unnest($1::BIGINT [], $2::TEXT []) AS asked (book_id, id)
INNER JOIN orders USING (book_id, id)
