-- Nothing, when somebody else has archived them first.
INSERT INTO archived_orders (
    book_id, first_ordinal, last_ordinal, from_us, to_us, plain_bytes, packed_bytes, packed
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (book_id, first_ordinal) DO NOTHING
RETURNING first_ordinal
