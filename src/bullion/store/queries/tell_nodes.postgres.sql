-- Sent when the transaction commits.
SELECT pg_notify('bullion_catalogue', '')
