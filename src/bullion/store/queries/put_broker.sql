INSERT INTO brokers (tag, name, created_at_us) VALUES ($1, $2, $3)
ON CONFLICT (tag) DO UPDATE SET
    name = excluded.name,
    created_at_us = CASE
        WHEN brokers.created_at_us BETWEEN 0 AND 253402300799999999 THEN brokers.created_at_us
        ELSE excluded.created_at_us
    END
