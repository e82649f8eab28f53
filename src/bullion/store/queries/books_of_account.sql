-- By their ids, which are twice the account's and one more. By the account alone, PostgreSQL goes through all books in
-- the order of their ids where it must not sort.
SELECT * FROM books WHERE id BETWEEN CAST($1 AS BIGINT) * 2 AND CAST($1 AS BIGINT) * 2 + 1 ORDER BY id
