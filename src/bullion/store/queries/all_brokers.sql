SELECT * FROM brokers ORDER BY tag
