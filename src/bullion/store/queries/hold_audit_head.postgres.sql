-- As it is now, and nobody else may append before this transaction ends.
SELECT count, hash, seal FROM audit_heads WHERE broker = $1 FOR UPDATE
