-- Whoever keeps counts of orders in memory sees by this number that a reset took some of them out of the lists.
INSERT INTO deployment (name, value) VALUES ('test_book_resets', '1')
ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(deployment.value AS BIGINT) + 1 AS TEXT)
