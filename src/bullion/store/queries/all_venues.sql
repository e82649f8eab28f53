SELECT * FROM venues
