-- Whoever writes holds the whole store.
SELECT count, hash, seal FROM audit_heads WHERE broker = $1
