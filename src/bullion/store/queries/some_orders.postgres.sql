SELECT orders.*
FROM unnest($1::BIGINT [], $2::BIGINT [], $3::TEXT []) AS asked (book_id, ordinal, id)
INNER JOIN orders USING (book_id, ordinal, id)
