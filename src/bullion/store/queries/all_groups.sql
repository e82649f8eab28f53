SELECT * FROM groups
