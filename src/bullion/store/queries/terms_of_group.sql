SELECT * FROM group_terms WHERE broker = $1 AND group_code = $2
