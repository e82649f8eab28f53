SELECT * FROM group_terms
