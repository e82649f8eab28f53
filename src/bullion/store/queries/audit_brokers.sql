SELECT tag AS broker FROM brokers
UNION SELECT broker FROM audit
UNION SELECT broker FROM audit_heads
ORDER BY broker
