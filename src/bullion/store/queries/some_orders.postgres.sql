-- By their place in their book alone, so that no plan goes by the index of ids, which is not led by the book. Whoever
-- asks compares the ids.
SELECT orders.*
FROM unnest($1::BIGINT [], $2::BIGINT []) AS asked (book_id, ordinal)
INNER JOIN orders USING (book_id, ordinal)
