SELECT * FROM symbols
