-- Nothing to say: it does so by itself.
SELECT 1
