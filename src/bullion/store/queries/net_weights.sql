-- What all clients of a broker hold in production, per metal. There is a row for each account and symbol that was
-- ever dealt in, and none for the books of the test environment; a book's number is twice its account's, and one.
SELECT open_weights.metal, CAST(sum(open_weights.buy_e4 - open_weights.sell_e4) AS BIGINT) AS net_e4
FROM open_weights
INNER JOIN accounts ON accounts.id = open_weights.book_id / 2
WHERE accounts.broker = $1
GROUP BY open_weights.metal
