SELECT * FROM switches
