SELECT count, hash, seal FROM audit_heads WHERE broker = $1
