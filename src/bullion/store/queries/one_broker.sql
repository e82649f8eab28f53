SELECT * FROM brokers WHERE tag = $1
