INSERT INTO audit (broker, ordinal, at_us, actor, action, subject, before, after, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
