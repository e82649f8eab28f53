-- The first id behind the next $3 orders that were made from id $1 on; none if there are not so many before id $2.
SELECT orders.id FROM orders WHERE orders.id >= $1 AND orders.id < $2 ORDER BY orders.id LIMIT 1 OFFSET $3
