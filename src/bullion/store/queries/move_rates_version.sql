UPDATE rates SET version = version + 1 WHERE one = 1 RETURNING version
