INSERT INTO audit_heads (
    broker,
    count,
    hash,
    seal
) VALUES ($1, $2, $3, $4)
ON CONFLICT (broker) DO UPDATE SET
    count = excluded.count,
    hash = excluded.hash,
    seal = excluded.seal
