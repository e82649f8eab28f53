-- Whoever writes holds the whole store.
SELECT 1
