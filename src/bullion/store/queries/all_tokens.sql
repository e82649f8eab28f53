SELECT * FROM tokens WHERE deleted_at_us IS NULL
