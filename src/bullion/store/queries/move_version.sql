UPDATE catalogue SET version = version + 1 RETURNING version
